//! Setting the plan of a workspace; an operator's command.

use kernel::{Context, Problem, id::WorkspaceId};

use crate::{Plan, WorkspaceTx};

/// Puts a workspace on another plan.
///
/// # Errors
/// 404 when there is no such workspace, or what the store says.
pub async fn set_plan(
    tx: &mut dyn WorkspaceTx,
    ctx: &Context,
    workspace: WorkspaceId,
    plan: Plan,
) -> Result<(), Problem> {
    if !tx.set_plan(workspace, plan).await? {
        return Err(Problem::not_found("workspace"));
    }
    let detail = serde_json::json!({ "plan": plan });
    tx.audit(ctx.audit_entry("workspace.plan").workspace(workspace).target(workspace).detail(detail));
    Ok(())
}
