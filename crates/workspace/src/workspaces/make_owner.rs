//! Making a person an owner; an operator's command.

use kernel::{
    Context, StoreError,
    authority::Role,
    id::{UserId, WorkspaceId},
};

use crate::WorkspaceTx;

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
