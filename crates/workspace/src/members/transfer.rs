//! Handing a workspace over.

use kernel::{
    Context,
    authority::{Owner, Role},
    id::UserId,
};

use super::{MembersTx, Membership, find_active_membership, lock_as_member};
use crate::WorkspaceError;

/// Makes a member an owner and the calling owner an admin. `confirm_name` is the workspace's name typed back.
///
/// # Errors
/// When the caller is no owner any more, the name is another, the member's access has an end, or what the store says.
pub async fn transfer_ownership(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    owner: &Owner,
    user: UserId,
    confirm_name: &str,
) -> Result<(), WorkspaceError> {
    let (workspace_info, actor) = lock_as_member(tx, ctx, owner).await?;
    let workspace = owner.workspace();
    if actor.role != Role::Owner {
        return Err(WorkspaceError::OwnerOnly);
    }
    let new_owner =
        find_active_membership(tx, ctx, workspace, user).await?.ok_or(WorkspaceError::MemberNotFound)?;
    if confirm_name.trim() != workspace_info.name {
        return Err(WorkspaceError::InvalidField {
            field: "confirmName",
            what: "must be the workspace's name, as it is written",
        });
    }
    if new_owner.user == actor.user {
        return Err(WorkspaceError::AlreadyOwner);
    }
    if new_owner.access_ends_at.is_some() {
        return Err(WorkspaceError::OwnerAccessCannotExpire);
    }
    tx.upsert_membership(workspace, &Membership { role: Role::Owner, ..new_owner.clone() }).await?;
    tx.upsert_membership(workspace, &Membership { role: Role::Admin, ..actor }).await?;
    let detail = serde_json::json!({ "from": new_owner.role });
    tx.audit(ctx.audit_entry("workspace.transfer").workspace(workspace).target(user).detail(detail));
    Ok(())
}
