//! Opening and closing a gate.

use kernel::{Context, Problem, StoreError, authority::Admin, id::GateId};
use serde_json::json;

use super::{ConnectionsTx, Gate, GateStatus};

/// Why a gate was not opened or closed.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The workspace has no such gate.
    #[error("the workspace has no such gate")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<GateError> for Problem {
    fn from(error: GateError) -> Self {
        match error {
            GateError::NotFound => Self::not_found("gate"),
            GateError::Store(error) => error.into(),
        }
    }
}

/// Opens or closes a gate of the admin's workspace. Runs under way keep what they were given when they started.
///
/// # Errors
/// 404 `gate_not_found`; 503 when the store cannot answer.
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
    use std::sync::Arc;

    use async_trait::async_trait;
    use kernel::{
        AuditEntry, Caller, Id, SeededRandomness, Timestamp, UnitOfWork,
        authority::{MembershipFact, Role, authorize_member},
        caller::SessionCaller,
        events::Event,
        id::WorkspaceId,
        mail::OutboxEmail,
    };
    use uuid::Uuid;

    use super::*;
    use crate::gates::{GateTx, Method};

    fn id<K>(number: u128) -> Id<K> {
        Id::from_uuid(Uuid::from_u128(number))
    }

    #[derive(Default)]
    struct Tx {
        gates: Vec<Gate>,
        audit: Vec<AuditEntry>,
    }

    #[async_trait]
    impl GateTx for Tx {
        async fn gate(&mut self, workspace: WorkspaceId, gate: GateId) -> Result<Option<Gate>, StoreError> {
            Ok(self.gates.iter().find(|known| known.workspace == workspace && known.id == gate).cloned())
        }

        async fn insert_gate(&mut self, gate: &Gate) -> Result<(), StoreError> {
            self.gates.push(gate.clone());
            Ok(())
        }

        async fn set_gate_status(
            &mut self,
            _: WorkspaceId,
            gate: GateId,
            status: GateStatus,
        ) -> Result<(), StoreError> {
            self.gates.iter_mut().filter(|known| known.id == gate).for_each(|known| known.status = status);
            Ok(())
        }
    }

    #[async_trait]
    impl UnitOfWork for Tx {
        fn audit(&mut self, entry: AuditEntry) {
            self.audit.push(entry);
        }

        fn enqueue_email(&mut self, _: OutboxEmail) {}

        fn publish(&mut self, _: Event) {}

        async fn commit(self: Box<Self>) -> Result<(), StoreError> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn closing_is_audited_once_and_only_in_the_own_workspace() {
        let caller = Caller::Session(SessionCaller {
            session: id(1),
            user: id(2),
            workspace: None,
            is_dev_login: false,
        });
        let now = Timestamp::from_timestamp_millis(0).unwrap();
        let fact = MembershipFact { workspace: id(3), user: id(2), role: Role::Admin, access_ends_at: None };
        let admin = authorize_member(&caller, id(3), Some(&fact), now).unwrap().require_admin().unwrap();
        let ctx = Context::new(caller, now, id(4), None, Arc::new(SeededRandomness::new(1)));
        let host = "api.example.com".parse().unwrap();
        let mut tx = Tx::default();
        let own = Gate::new_open(&ctx, id(3), "Api", host, vec![Method::Get]);
        let foreign = Gate { id: ctx.new_id(), workspace: id(9), ..own.clone() };
        tx.insert_gate(&own).await.unwrap();
        tx.insert_gate(&foreign).await.unwrap();

        for _ in 0..2 {
            let closed = set_gate_status(&mut tx, &ctx, &admin, own.id, GateStatus::Closed).await.unwrap();
            assert_eq!(closed.status, GateStatus::Closed);
        }
        let actions: Vec<_> = tx.audit.iter().map(|entry| (&*entry.action, entry.workspace)).collect();
        assert_eq!(actions, [("gate.close", Some(id(3)))]);
        let refused = set_gate_status(&mut tx, &ctx, &admin, foreign.id, GateStatus::Closed).await;
        assert_eq!(Problem::from(refused.unwrap_err()).code, "gate_not_found");
    }
}
