//! Leaving, and being removed.

use kernel::{
    Context,
    authority::{Member, Role},
    id::UserId,
};

use super::{Departure, MembersTx, acting, check_not_last_owner, check_owners_business, current};
use crate::WorkspaceError;

/// Takes a member away: anybody themselves, admins everybody but owners, owners everybody. What the person held in
/// the workspace, tokens above all, must end with it in the same transaction.
///
/// # Errors
/// When the caller may not, the workspace would be left without an owner, or what the store says.
pub async fn remove_member<T: MembersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    member: &Member,
    user: UserId,
) -> Result<(), WorkspaceError> {
    let (_, actor) = acting(tx, ctx, member).await?;
    let workspace = member.workspace();
    let leaves = user == actor.user;
    if !leaves && !actor.role.at_least(Role::Admin) {
        return Err(WorkspaceError::AdminOnly);
    }
    let found = current(tx, ctx, workspace, user).await?.ok_or(WorkspaceError::MemberNotFound)?;
    check_owners_business(actor.role, &[found.role])?;
    if found.role == Role::Owner {
        check_not_last_owner(tx, ctx, workspace).await?;
    }
    let (action, departure) =
        if leaves { ("member.leave", Departure::Left) } else { ("member.remove", Departure::Removed) };
    tx.delete_membership(workspace, user).await?;
    tx.set_departure(workspace, user, Some((departure, ctx.now))).await?;
    let detail = serde_json::json!({ "role": found.role });
    tx.audit(ctx.audit(action).workspace(workspace).target(user).detail(detail));
    Ok(())
}
