//! What only whoever runs the machine may do.

use kernel::{
    Context, Problem, StoreError,
    authority::Role,
    id::{UserId, WorkspaceId},
};

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

/// Makes a person an owner of a workspace that is there.
///
/// # Errors
/// What the store says.
pub async fn make_owner(
    tx: &mut dyn WorkspaceTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    tx.upsert_member(workspace, user, Role::Owner, ctx.now).await?;
    tx.audit(ctx.audit_entry("member.make_owner").workspace(workspace).target(user));
    Ok(())
}
