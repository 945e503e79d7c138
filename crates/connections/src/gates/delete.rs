//! Deleting a gate.

use kernel::{Context, authority::Admin, id::GateId};
use serde_json::json;

use super::{ConnectionsTx, GateError};

/// Deletes a gate of the admin's workspace. Runs that have started keep the gates they started with.
///
/// # Errors
/// * [`GateError::NotFound`] when the workspace has no such gate
/// * [`GateError::BelongsToConnection`] when the gate is that of a connection
/// * [`GateError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_gate(
    tx: &mut dyn ConnectionsTx,
    ctx: &Context,
    admin: &Admin,
    gate: GateId,
) -> Result<(), GateError> {
    let workspace = admin.workspace();
    let gate = tx.gate(workspace, gate).await?.ok_or(GateError::NotFound)?;
    if gate.connection.is_some() {
        return Err(GateError::BelongsToConnection);
    }
    tx.delete_gate(workspace, gate.id).await?;
    let entry = ctx.audit_entry("gate.delete").workspace(workspace).target(gate.id);
    tx.audit(entry.detail(json!({ "host": gate.host.as_str() })));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{
        authority::Role,
        testing::{id, member},
    };

    use super::*;
    use crate::{
        gates::Gate,
        testing::{FakeStore, open_gate, request, workspace},
    };

    async fn delete(tx: &mut FakeStore, gate: u128) -> Result<(), GateError> {
        let ctx = request();
        let admin = member(&ctx, workspace(), Role::Admin).require_admin().unwrap();
        delete_gate(tx, &ctx, &admin, id(gate)).await
    }

    #[tokio::test]
    async fn an_admin_deletes_one_gate() {
        let kept = open_gate(2, "other.example");
        let mut tx = FakeStore::with_gates([open_gate(1, "api.example.com"), kept.clone()]);
        delete(&mut tx, 1).await.unwrap();
        assert_eq!(tx.gates, [kept]);
        let entry = tx.work.audit.pop().unwrap();
        assert_eq!(
            (&*entry.action, entry.detail),
            ("gate.delete", Some(json!({ "host": "api.example.com" })))
        );
        assert!(matches!(delete(&mut tx, 1).await, Err(GateError::NotFound)));
    }

    #[tokio::test]
    async fn gates_of_connections_and_of_other_workspaces_stay() {
        let foreign = Gate { workspace: id(9), ..open_gate(1, "api.example.com") };
        let connected = Gate { connection: Some(id(7)), ..open_gate(2, "api.example.com") };
        let mut tx = FakeStore::with_gates([foreign, connected]);
        assert!(matches!(delete(&mut tx, 1).await, Err(GateError::NotFound)));
        assert!(matches!(delete(&mut tx, 2).await, Err(GateError::BelongsToConnection)));
        assert_eq!(tx.gates.len(), 2);
        assert!(tx.work.audit.is_empty());
    }
}
