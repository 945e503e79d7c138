//! Leaving, and being removed.

use kernel::{
    Context,
    authority::{Member, Role},
    id::UserId,
};

use super::{
    LeaveReason, MembersTx, check_may_change_owners, check_not_last_owner, find_active_membership,
    lock_as_member,
};
use crate::WorkspaceError;

/// Takes a member away: anybody themselves, admins everybody but owners, owners everybody. What the person held in
/// the workspace, tokens above all, must end with it in the same transaction.
///
/// # Errors
/// When the caller may not, the workspace would be left without an owner, or what the store says.
pub async fn remove_member(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    member: &Member,
    user: UserId,
) -> Result<(), WorkspaceError> {
    let (_, actor) = lock_as_member(tx, ctx, member).await?;
    let workspace = member.workspace();
    let is_leaving = user == actor.user;
    if !is_leaving && !actor.role.at_least(Role::Admin) {
        return Err(WorkspaceError::AdminOnly);
    }
    let found =
        find_active_membership(tx, ctx, workspace, user).await?.ok_or(WorkspaceError::MemberNotFound)?;
    check_may_change_owners(actor.role, &[found.role])?;
    if found.role == Role::Owner {
        check_not_last_owner(tx, ctx, workspace).await?;
    }
    let (action, reason) = if is_leaving {
        ("member.leave", LeaveReason::Left)
    } else {
        ("member.remove", LeaveReason::Removed)
    };
    tx.delete_membership(workspace, user).await?;
    tx.set_leave_reason(workspace, user, Some((reason, ctx.now))).await?;
    let detail = serde_json::json!({ "role": found.role });
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(user).detail(detail));
    Ok(())
}
