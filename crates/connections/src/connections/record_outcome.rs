//! What calls say about a connection.
//!
//! No person asks for these changes: the gate reports each call, and whoever refreshes tokens reports the end of a
//! grant. So they need no proof of a right; the connection's workspace comes from the call.

use kernel::{
    Context,
    authority::Role,
    changes::Audience,
    events::{Event, EventKind},
    id::{ConnectionId, WorkspaceId},
};
use serde_json::json;

use super::{ConnectionError, ConnectionTx};
use crate::{
    connection::ConnectionStatusName,
    health::{CallOutcome, Transition, status_after},
};

/// Updates the status of a connection after a call. The result says whether the connection went down with it.
///
/// `secret_version` is that of the secret which the call used: a rejection of an older secret says nothing about the
/// one that is stored now.
///
/// # Errors
/// * [`ConnectionError::NotFound`] when the workspace has no such connection
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn record_outcome(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    workspace: WorkspaceId,
    connection: ConnectionId,
    secret_version: u32,
    outcome: CallOutcome,
) -> Result<Transition, ConnectionError> {
    let found = tx.connection_for_update(workspace, connection).await?;
    let connection = found.ok_or(ConnectionError::NotFound)?;
    let unchanged = Transition { status: connection.status, went_down: false };
    if connection.secret_version != secret_version {
        return Ok(unchanged);
    }
    let next = status_after(connection.status, outcome, ctx.now);
    if next == unchanged {
        return Ok(unchanged);
    }
    tx.set_connection_status(workspace, connection.id, next.status).await?;
    let action = match (connection.status.name(), next.status.name()) {
        (before, after) if before == after => return Ok(next),
        (_, ConnectionStatusName::Error) => "connection.error",
        (_, ConnectionStatusName::Expired) => "connection.expire",
        _ => "connection.restore",
    };
    if next.went_down {
        let code = match next.status.name() {
            ConnectionStatusName::Expired => "expired",
            _ => "auth_rejected",
        };
        let kind = EventKind::ConnectorDown { connection: connection.id, code: code.to_owned() };
        tx.publish(Event { workspace, audience: Audience::Members(Role::Viewer), at: ctx.now, kind });
    }
    let entry = ctx.audit_entry(action).workspace(workspace).target(connection.id);
    tx.audit(entry.detail(json!({ "name": connection.display_name })));
    Ok(next)
}

/// Marks a connection as expired: its token endpoint said `invalid_grant`.
///
/// # Errors
/// As [`record_outcome`].
#[tracing::instrument(level = "debug", skip_all)]
pub async fn mark_expired(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    workspace: WorkspaceId,
    connection: ConnectionId,
    secret_version: u32,
) -> Result<Transition, ConnectionError> {
    record_outcome(tx, ctx, workspace, connection, secret_version, CallOutcome::GrantEnded).await
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        connection::ConnectionStatus,
        testing::{FakeStore, http_connection, request, workspace},
    };

    #[tokio::test]
    async fn three_rejections_bring_a_connection_down_once_and_a_success_restores_it() {
        let mut tx =
            FakeStore { connections: vec![http_connection(1, "https://a.example")], ..FakeStore::default() };
        let ctx = request();
        let mut down = Vec::new();
        for outcome in [CallOutcome::AuthRejected; 4].into_iter().chain([CallOutcome::Succeeded; 2]) {
            let next = record_outcome(&mut tx, &ctx, workspace(), id(1), 1, outcome).await.unwrap();
            assert_eq!(tx.connections[0].status, next.status);
            down.push(next.went_down);
        }
        assert_eq!(down, [false, false, true, false, false, false]);
        let published = tx.work.events.iter().map(|event| (event.audience.clone(), event.kind.clone()));
        let down = EventKind::ConnectorDown { connection: id(1), code: "auth_rejected".to_owned() };
        assert_eq!(published.collect::<Vec<_>>(), [(Audience::Members(Role::Viewer), down)]);
        assert_eq!(tx.work.audited_actions(), ["connection.error", "connection.restore"]);
        assert_eq!(tx.connections[0].revision, 1);
    }

    #[tokio::test]
    async fn an_older_secret_and_a_foreign_workspace_change_nothing() {
        let mut tx =
            FakeStore { connections: vec![http_connection(1, "https://a.example")], ..FakeStore::default() };
        let ctx = request();
        let old = mark_expired(&mut tx, &ctx, workspace(), id(1), 0).await.unwrap();
        assert_eq!(old, Transition { status: ConnectionStatus::NEW, went_down: false });
        assert!(mark_expired(&mut tx, &ctx, id(9), id(1), 1).await.is_err());
        assert!(tx.work.audit.is_empty());
        let ended = mark_expired(&mut tx, &ctx, workspace(), id(1), 1).await.unwrap();
        assert_eq!((ended.status, ended.went_down), (ConnectionStatus::Expired { since: ctx.now }, true));
        assert_eq!(tx.work.audited_actions(), ["connection.expire"]);
    }
}
