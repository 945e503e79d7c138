//! Setting the plan of a workspace; an operator's command.

use kernel::{Context, id::WorkspaceId};

use crate::{Plan, WorkspaceError, WorkspaceTx};

/// Puts a workspace on another plan.
///
/// # Errors
/// [`WorkspaceError::WorkspaceNotFound`], or a failure of the store.
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
