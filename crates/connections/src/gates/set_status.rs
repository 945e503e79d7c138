//! Opening and closing a gate.

use kernel::{Context, authority::Admin, id::GateId};
use serde_json::json;

use super::{ConnectionsTx, Gate, GateError, GateStatus};

/// Opens or closes a gate of the admin's workspace. Runs that have started keep the gates they started with.
///
/// # Errors
/// * [`GateError::NotFound`] when the workspace has no such gate
/// * [`GateError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn set_gate_status(
    tx: &mut dyn ConnectionsTx,
    ctx: &Context,
    admin: &Admin,
    gate: GateId,
    status: GateStatus,
) -> Result<Gate, GateError> {
    let workspace = admin.workspace();
    let mut gate = tx.gate(workspace, gate).await?.ok_or(GateError::NotFound)?;
    if gate.status == status {
        return Ok(gate);
    }
    tx.set_gate_status(workspace, gate.id, status).await?;
    gate.status = status;
    let action = match status {
        GateStatus::Open => "gate.open",
        GateStatus::Closed => "gate.close",
    };
    let entry = ctx.audit_entry(action).workspace(workspace).target(gate.id);
    tx.audit(entry.detail(json!({ "host": gate.host.as_str() })));
    Ok(gate)
}

#[cfg(test)]
mod tests {
    use kernel::{
        AuditTarget,
        authority::Role,
        testing::{id, member},
    };

    use super::*;
    use crate::testing::{FakeStore, open_gate, request, workspace};

    async fn set(tx: &mut FakeStore, gate: u128, status: GateStatus) -> Result<Gate, GateError> {
        let ctx = request();
        let admin = member(&ctx, workspace(), Role::Admin).require_admin().unwrap();
        set_gate_status(tx, &ctx, &admin, id(gate), status).await
    }

    #[tokio::test]
    async fn an_admin_closes_and_opens_a_gate() {
        let other = open_gate(2, "other.example");
        let mut tx = FakeStore::with_gates([open_gate(1, "api.example.com"), other.clone()]);
        for (status, action) in [(GateStatus::Closed, "gate.close"), (GateStatus::Open, "gate.open")] {
            let changed = set(&mut tx, 1, status).await.unwrap();
            assert_eq!(changed, Gate { status, ..open_gate(1, "api.example.com") });
            assert_eq!(tx.gates, [changed.clone(), other.clone()]);
            let entry = tx.work.audit.pop().unwrap();
            assert_eq!((&*entry.action, entry.workspace), (action, Some(workspace())));
            assert_eq!(entry.target, Some(AuditTarget(changed.id.to_string())));
            assert_eq!(entry.detail, Some(json!({ "host": "api.example.com" })));
            assert!(tx.work.audit.is_empty() && tx.work.events.is_empty() && tx.work.emails.is_empty());
        }
    }

    #[tokio::test]
    async fn a_gate_that_has_the_status_already_is_left_alone() {
        let mut tx = FakeStore::with_gates([open_gate(1, "api.example.com")]);
        let unchanged = set(&mut tx, 1, GateStatus::Open).await.unwrap();
        assert_eq!(unchanged.status, GateStatus::Open);
        assert!(tx.work.audit.is_empty(), "a transaction that writes nothing needs no audit entry");
    }

    #[tokio::test]
    async fn a_gate_of_another_workspace_is_not_found() {
        let foreign = Gate { workspace: id(9), ..open_gate(1, "api.example.com") };
        let mut tx = FakeStore::with_gates([foreign.clone()]);
        for gate in [1, 404] {
            let refused = set(&mut tx, gate, GateStatus::Closed).await;
            assert!(matches!(refused, Err(GateError::NotFound)), "{gate}: {refused:?}");
        }
        assert_eq!(tx.gates, [foreign]);
        assert!(tx.work.audit.is_empty());
    }
}
