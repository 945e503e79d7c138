//! Ending all grants of a person in a workspace.

use kernel::{
    Context, StoreError,
    id::{UserId, WorkspaceId},
};

use crate::oauth::OAuthTx;

/// Ends every grant a person gave in a workspace, as when they leave it; how many there were.
///
/// # Errors
/// What the store says.
pub async fn revoke_grants_of(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<usize, StoreError> {
    let ended = tx.revoke_grants(workspace, user, ctx.now).await?;
    for grant in &ended {
        tx.audit(ctx.audit_entry("oauth_grant.revoke").workspace(workspace).target(grant));
    }
    Ok(ended.len())
}
