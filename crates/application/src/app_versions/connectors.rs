//! Connections in the manifest of a new version.

use apps::{Manifest, manifest::ConnectorPermission, safe_band::check_connection_gain};
use kernel::{Context, authority::Member, id::ConnectionId};

use crate::{Application, Problem};

/// Checks that the manifest names only connections of the app's workspace, and that the caller may let an app spend
/// what the current version does not: an admin in the console. More methods or paths of a connection count, too.
///
/// # Errors
/// [`Problem`] if there is no such connection, the caller may not let the app spend it, or the store fails.
pub async fn check_connectors(
    app: &Application,
    ctx: &Context,
    member: &Member,
    manifest: &Manifest,
    granted: &[ConnectorPermission],
) -> Result<(), Problem> {
    let is_granted = |wanted: &ConnectorPermission| granted.iter().any(|known| known.covers(wanted));
    let named = manifest.permissions.connectors.iter();
    let anew: Vec<ConnectionId> =
        named.filter(|wanted| !is_granted(wanted)).map(|wanted| wanted.connection_id).collect();
    for connection in &anew {
        let found = app.store().find_connection(member.workspace(), *connection).await?;
        found.ok_or_else(|| Problem::not_found("connection"))?;
    }
    if anew.is_empty() {
        return Ok(());
    }
    Ok(check_connection_gain(&ctx.caller, member.role())?)
}
