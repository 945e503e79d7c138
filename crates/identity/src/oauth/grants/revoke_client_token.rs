//! Taking back a token on its client's behalf (RFC 7009).

use kernel::{
    Context, StoreError,
    token::{self, Peppers, TokenKind},
};

use super::audit_actor;
use crate::oauth::OAuthTx;

/// Takes back a token that its client presents (RFC 7009): a refresh token ends the grant, an access token itself
/// alone. A token that is not known, or another client's, is left as it is, and nobody is told.
///
/// # Errors
/// What the store says.
pub async fn revoke_client_token(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    client_id: &str,
    presented: &str,
) -> Result<(), StoreError> {
    let kind = token::detect_kind(presented);
    let digests: Vec<_> = peppers.candidate_digests(presented).collect();
    let (workspace, id, access_token) = match kind {
        Some(TokenKind::AgentRefresh) => match tx.refresh_token(&digests).await? {
            Some(token) => (token.workspace, token.grant, None),
            None => return Ok(()),
        },
        Some(TokenKind::AgentAccess) => match tx.access_token(&digests).await? {
            Some(token) => (token.workspace, token.grant, Some(token.id)),
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let Some(grant) = tx.grant(workspace, id).await?.filter(|grant| grant.client.id == client_id) else {
        return Ok(());
    };
    let action = match access_token {
        Some(token) => {
            tx.delete_access_token(workspace, token).await?;
            "oauth_token.revoke"
        }
        None if tx.revoke_grant(workspace, id, ctx.now).await? => "oauth_grant.revoke",
        None => return Ok(()),
    };
    let mut entry = ctx.audit_entry(action).workspace(workspace).target(id);
    entry.actor = audit_actor(grant.user, grant.id);
    tx.audit(entry);
    Ok(())
}
