//! Ending one grant.

use kernel::{
    Context,
    id::{GrantId, UserId, WorkspaceId},
};

use crate::oauth::{ConsentError, OAuthTx};

/// Ends one of a person's own grants; ending it twice keeps the first moment.
///
/// # Errors
/// [`ConsentError::GrantNotFound`] when it is not theirs, or what the store says.
pub async fn revoke_grant(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
    grant: GrantId,
) -> Result<(), ConsentError> {
    let found = tx.grant(workspace, grant).await?.filter(|grant| grant.user == user);
    let grant = found.ok_or(ConsentError::GrantNotFound)?;
    if tx.revoke_grant(workspace, grant.id, ctx.now).await? {
        let detail = serde_json::json!({ "client": grant.client.id });
        tx.audit(ctx.audit_entry("oauth_grant.revoke").workspace(workspace).target(grant.id).detail(detail));
    }
    Ok(())
}
