//! A client registers itself (RFC 7591).

use kernel::{Context, StoreError, id::OAuthClientId};

use super::{Client, ClientKind, ClientMetadata, ClientSnapshot};
use crate::oauth::OAuthTx;

/// Registers a client. Many register anew each time they connect, so nobody is told that there are too many; those
/// that nobody let in go after a day.
///
/// # Errors
/// What the store says.
pub async fn register_client(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    metadata: ClientMetadata,
) -> Result<Client, StoreError> {
    let id: OAuthClientId = ctx.new_id();
    let client = Client {
        snapshot: ClientSnapshot {
            id: id.to_string(),
            kind: ClientKind::Registered,
            name: metadata.name,
            host: None,
        },
        redirect_uris: metadata.redirect_uris,
        homepage_host: metadata.homepage_host,
    };
    tx.insert_client(id, &client, ctx.now).await?;
    tx.audit(ctx.audit_entry("oauth_client.create").target(id));
    Ok(client)
}
