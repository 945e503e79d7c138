//! Revoking an invite.

use kernel::{Context, authority::Admin, id::InviteId};

use super::{Invite, InviteState, InvitesTx};
use crate::{WorkspaceError, members::lock_as_admin};

/// Takes an invite back: its link leads nowhere from now on. Taking it back twice keeps the first moment.
///
/// # Errors
/// When there is no such invite, its person came already, or what the store says.
pub async fn revoke_invite(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    admin: &Admin,
    invite: InviteId,
) -> Result<(), WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    let found = tx.invite(admin.workspace(), invite).await?.ok_or(WorkspaceError::InviteNotFound)?;
    match found.state {
        InviteState::Revoked { .. } => return Ok(()),
        InviteState::Accepted { .. } => return Err(WorkspaceError::InviteAccepted),
        InviteState::Pending => {}
    }
    let revoked = Invite { state: InviteState::Revoked { at: ctx.now }, ..found };
    tx.update_invite(&revoked, None).await?;
    let detail = serde_json::json!({ "email": revoked.email });
    tx.audit(ctx.audit_entry("invite.revoke").workspace(revoked.workspace).target(invite).detail(detail));
    Ok(())
}
