//! Ending a person's tokens in a workspace.

use kernel::{
    Context, StoreError,
    id::{UserId, WorkspaceId},
};

use crate::ports::PeopleTx;

/// Ends every token that a person holds in a workspace or is about to be given for it, so that a later membership does
/// not revive them.
///
/// # Errors
/// What the store says.
pub async fn revoke_tokens_of(
    tx: &mut dyn PeopleTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    let revoked = tx.revoke_tokens_of(workspace, user, ctx.now).await?;
    for token in &revoked {
        let detail = serde_json::json!({ "of": user });
        tx.audit(ctx.audit_entry("token.revoke").workspace(workspace).target(token).detail(detail));
    }
    for login in &tx.deny_device_logins_of(workspace, user).await? {
        tx.audit(ctx.audit_entry("device.lapse").workspace(workspace).target(login));
    }
    Ok(())
}
