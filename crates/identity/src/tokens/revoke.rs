//! Revoking a personal access token.

use kernel::{
    Context,
    id::{TokenId, UserId, WorkspaceId},
};

use super::Token;
use crate::{IdentityError, IdentityTx};

/// Revokes one of a person's own tokens; revoking twice keeps the first moment.
///
/// # Errors
/// [`IdentityError::TokenNotFound`] when it is not theirs, or what the store says.
pub async fn revoke_token(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
    token: TokenId,
) -> Result<Token, IdentityError> {
    let token =
        tx.revoke_token(workspace, user, token, ctx.now).await?.ok_or(IdentityError::TokenNotFound)?;
    tx.audit(
        ctx.audit_entry("token.revoke")
            .workspace(workspace)
            .target(token.id)
            .detail(serde_json::json!({ "hint": token.hint.to_string() })),
    );
    Ok(token)
}
