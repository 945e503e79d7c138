//! Revoking everything that one person sent.

use kernel::{
    Context, StoreError,
    id::{InviteId, UserId, WorkspaceId},
};

use super::InvitesTx;

/// Revokes the invites of a person who may invite nobody any more, or has left: nobody comes in later on their word.
///
/// # Errors
/// What the store says.
pub async fn revoke_invites_of(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    workspace: WorkspaceId,
    inviter: UserId,
) -> Result<(), StoreError> {
    for invite in tx.revoke_invites_of(workspace, inviter, ctx.now).await? {
        audit_inviter_revocation(tx, ctx, workspace, invite);
    }
    Ok(())
}

/// The audit row of an invite that goes because its inviter may invite no more.
pub(super) fn audit_inviter_revocation(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    workspace: WorkspaceId,
    invite: InviteId,
) {
    let detail = serde_json::json!({ "because": "inviter" });
    tx.audit(ctx.audit_entry("invite.revoke").workspace(workspace).target(invite).detail(detail));
}
