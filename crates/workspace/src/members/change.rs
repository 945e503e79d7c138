//! Giving a member another role, or an end of access.

use kernel::{
    Context, Timestamp,
    authority::{Admin, Role},
    id::UserId,
};

use super::{
    Membership, check_may_change_owners, check_not_last_owner, find_active_membership, lock_as_admin,
};
use crate::{
    WorkspaceError,
    invites::{InvitesTx, revoke_invites_of},
};

/// What is to change; what is none stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemberChange {
    /// Another role.
    pub role: Option<Role>,
    /// Another end of access; `Some(None)` lifts it.
    pub access_ends_at: Option<Option<Timestamp>>,
}

/// Changes a member. It takes effect with the member's next request, for their tokens too.
///
/// # Errors
/// When an admin touches an owner, the workspace would be left without one, the end is past, or what the store says.
pub async fn change_member(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    admin: &Admin,
    user: UserId,
    change: MemberChange,
) -> Result<Membership, WorkspaceError> {
    let (_, actor) = lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let before =
        find_active_membership(tx, ctx, workspace, user).await?.ok_or(WorkspaceError::MemberNotFound)?;
    let after = Membership {
        role: change.role.unwrap_or(before.role),
        access_ends_at: change.access_ends_at.unwrap_or(before.access_ends_at),
        ..before.clone()
    };
    check_may_change_owners(actor.role, &[before.role, after.role])?;
    if after.access_ends_at != before.access_ends_at && !after.is_active(ctx.now) {
        return Err(WorkspaceError::InvalidField { field: "accessEndsAt", what: "must be in the future" });
    }
    if after.role == Role::Owner && after.access_ends_at.is_some() {
        return Err(WorkspaceError::OwnerAccessCannotExpire);
    }
    if before.role == Role::Owner && after.role != Role::Owner {
        check_not_last_owner(tx, ctx, workspace).await?;
    }
    if after != before {
        tx.upsert_membership(workspace, &after).await?;
        let detail = serde_json::json!({
            "from": { "role": before.role, "accessEndsAt": before.access_ends_at },
            "to": { "role": after.role, "accessEndsAt": after.access_ends_at },
        });
        tx.audit(ctx.audit_entry("member.change").workspace(workspace).target(user).detail(detail));
        if before.role.at_least(Role::Admin) && !after.role.at_least(Role::Admin) {
            revoke_invites_of(tx, ctx, workspace, user).await?;
        }
    }
    Ok(after)
}
