//! Taking back what was granted to somebody who goes.

use kernel::{
    Context, StoreError,
    id::{UserId, WorkspaceId},
};

use crate::AppsTx;

/// Takes back everything that was granted to a person on the apps of a workspace, so that a later membership does not
/// revive it. What they made stays theirs.
///
/// # Errors
/// What the store says.
pub async fn revoke_app_grants_of(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    for app in tx.delete_grants_of(workspace, user).await? {
        let detail = serde_json::json!({ "of": user });
        tx.audit(ctx.audit_entry("app.unshare").workspace(workspace).target(app).detail(detail));
    }
    Ok(())
}
