//! The manifest of a request, in which a connector may stand in place of a connection.

use apps::{Manifest, manifest::ConnectorPermission};
use kernel::{Context, authority::Member, id::ConnectionId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Application, Problem};

/// Name of the member that stands in place of a connection's id.
const CONNECTOR: &str = "connectorId";
/// Name of the member that a version has.
const CONNECTION: &str = "connectionId";

/// Parses a manifest, and replaces each `connectorId` by the id of the workspace's connection to that connector. The current
/// version decides between several: a name keeps its connection.
///
/// # Errors
/// [`Problem`] if the manifest is invalid, the workspace has no such connection or several, or the store fails.
pub async fn parse_manifest(
    app: &Application,
    ctx: &Context,
    member: &Member,
    json: &Value,
    granted: &[ConnectorPermission],
) -> Result<Manifest, Problem> {
    let mut json = json.clone();
    let wanted = take_connectors(&mut json);
    let mut manifest = Manifest::parse(&json)?;
    if wanted.is_empty() {
        return Ok(manifest);
    }
    let connections = app.named_connections(ctx, member.workspace()).await?;
    let permissions = manifest.permissions.connectors.iter_mut().enumerate();
    for (index, permission) in permissions {
        let Some((_, connector)) = wanted.iter().find(|(at, _)| *at == index) else { continue };
        let of_connector: Vec<ConnectionId> =
            connections.iter().filter(|known| known.connector == *connector).map(|known| known.id).collect();
        let before = granted.iter().find(|known| known.name == permission.name);
        let before = before.map(|known| known.connection_id).filter(|id| of_connector.contains(id));
        permission.connection_id = match (before, of_connector.as_slice()) {
            (Some(before), _) => before,
            (None, []) => return Err(Problem::not_found("connection")),
            (None, [only]) => *only,
            (None, _) => {
                let at = format!("manifest.permissions.connectors[{index}].{CONNECTOR}");
                let what = format_args!("has several connections; choose one by {CONNECTION}");
                return Err(Problem::invalid_field(&at, what));
            }
        };
    }
    Ok(manifest)
}

/// Replaces connectors by ids of no connection, which are replaced once the rest is valid; returns the connectors by their
/// positions. Whatever is no connector alone stays, and is refused as an unknown member is.
fn take_connectors(json: &mut Value) -> Vec<(usize, String)> {
    let listed = json.pointer_mut("/permissions/connectors").and_then(Value::as_array_mut);
    let mut found = Vec::new();
    for (index, item) in listed.into_iter().flatten().enumerate() {
        let Some(item) = item.as_object_mut().filter(|item| !item.contains_key(CONNECTION)) else { continue };
        let Some(connector) = item.get(CONNECTOR).and_then(Value::as_str).map(str::to_owned) else {
            continue;
        };
        item.remove(CONNECTOR);
        item.insert(CONNECTION.to_owned(), json!(ConnectionId::from_uuid(Uuid::nil())));
        found.push((index, connector));
    }
    found
}
