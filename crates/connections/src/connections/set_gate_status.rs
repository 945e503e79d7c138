//! Opening and closing the gate of a connection.

use kernel::{Context, authority::Admin, id::ConnectionId};
use serde_json::json;

use super::{ConnectionError, ConnectionTx};
use crate::{connection::Connection, gates::GateStatus};

/// Opens or closes the gate of a connection of the admin's workspace. The secret stays.
///
/// # Errors
/// * [`ConnectionError::NotFound`] when the workspace has no such connection
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn set_connection_gate(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Admin,
    connection: ConnectionId,
    status: GateStatus,
) -> Result<Connection, ConnectionError> {
    let workspace = admin.workspace();
    let found = tx.connection_for_update(workspace, connection).await?;
    let mut connection = found.ok_or(ConnectionError::NotFound)?;
    if connection.gate == status {
        return Ok(connection);
    }
    tx.set_connection_gate(workspace, connection.id, status).await?;
    connection.gate = status;
    let action = match status {
        GateStatus::Open => "connection.open",
        GateStatus::Closed => "connection.close",
    };
    let entry = ctx.audit_entry(action).workspace(workspace).target(connection.id);
    tx.audit(entry.detail(json!({ "host": connection.http.host.as_str() })));
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::testing::{FakeStore, admin, http_connection, request};

    #[tokio::test]
    async fn an_admin_closes_and_opens_the_gate() {
        let mut tx =
            FakeStore { connections: vec![http_connection(1, "https://a.example")], ..FakeStore::default() };
        let ctx = request();
        for status in [GateStatus::Closed, GateStatus::Closed, GateStatus::Open] {
            let changed = set_connection_gate(&mut tx, &ctx, &admin(&ctx), id(1), status).await.unwrap();
            assert_eq!((changed.gate, tx.connections[0].gate), (status, status));
        }
        assert_eq!(tx.work.audited_actions(), ["connection.close", "connection.open"]);
        let unknown = set_connection_gate(&mut tx, &ctx, &admin(&ctx), id(2), GateStatus::Open).await;
        assert!(matches!(unknown, Err(ConnectionError::NotFound)));
    }
}
