//! Setting the plan of a workspace, by an operator.

use kernel::{Context, id::WorkspaceId};

use crate::{Plan, WorkspaceError, WorkspaceTx};

/// Sets the plan of a workspace.
///
/// # Errors
/// [`WorkspaceError::WorkspaceNotFound`]; a failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn set_plan(
    tx: &mut dyn WorkspaceTx,
    ctx: &Context,
    workspace: WorkspaceId,
    plan: Plan,
) -> Result<(), WorkspaceError> {
    if !tx.set_plan(workspace, plan).await? {
        return Err(WorkspaceError::WorkspaceNotFound);
    }
    let detail = serde_json::json!({ "plan": plan });
    tx.audit(ctx.audit_entry("workspace.plan").workspace(workspace).target(workspace).detail(detail));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{Caller, testing::at};
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeTx, acme, globex};

    #[tokio::test]
    async fn the_plan_is_set_and_audited() {
        let mut tx = FakeTx::acme();
        let ctx = kernel::testing::context(Caller::System("admin"), at(0));
        set_plan(&mut tx, &ctx, acme(), Plan::Business).await.unwrap();
        assert_eq!(tx.workspaces[0].plan, Plan::Business);
        assert_eq!(tx.audited(), [("workspace.plan", acme().to_string(), json!({ "plan": "business" }))]);
        assert_eq!(tx.work.audit[0].actor, kernel::Actor::System("admin".into()));
    }

    #[tokio::test]
    async fn a_workspace_that_does_not_exist_is_not_found() {
        let mut tx = FakeTx::acme();
        let ctx = kernel::testing::context(Caller::System("admin"), at(0));
        let refused = set_plan(&mut tx, &ctx, globex(), Plan::Business).await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        assert_eq!(tx.workspaces[0].plan, Plan::Free);
        tx.assert_nothing_recorded();
    }
}
