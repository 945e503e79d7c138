//! A code becomes a grant and its first tokens (draft-ietf-oauth-v2-1 §4.1.3).

use kernel::{Context, StoreError, token::Peppers, token::TokenKind};

use super::{Grant, IDLE_LIFETIME, Tokens, actor, issue::issue_tokens};
use crate::oauth::{Authorization, GrantError, OAuthTx, Stage};

/// What a client sends to exchange a code.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// The code.
    pub code: &'a str,
    /// Who it says it is.
    pub client_id: &'a str,
    /// The secret behind the challenge.
    pub verifier: &'a str,
    /// Where the code went, when it is said.
    pub redirect_uri: Option<&'a str>,
    /// What the tokens are to be for, when it is said.
    pub audience: Option<&'a str>,
}

impl Exchange<'_> {
    /// Whether this comes from whoever asked for the code.
    fn fits(&self, authorization: &Authorization) -> bool {
        // Each is looked at, whatever the others say.
        (self.client_id == authorization.client.id)
            & authorization.challenge.is_met_by(self.verifier)
            & self.redirect_uri.is_none_or(|uri| uri == authorization.redirect.as_str())
            & self.audience.is_none_or(|audience| audience == authorization.audience)
    }
}

/// Exchanges a code, once. The outer result is the store's; the inner one, once committed, is the client's.
///
/// When a code comes a second time from whoever asked for it, somebody else may have used it: the grant that came of
/// it ends. Whoever cannot prove that is told no, and ends nothing, or a code seen in passing could end grants
/// (draft-ietf-oauth-v2-1 §7.5.2).
///
/// # Errors
/// What the store says.
pub async fn exchange_code<T: OAuthTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    input: Exchange<'_>,
) -> Result<Result<Tokens, GrantError>, StoreError> {
    const INVALID: Result<Tokens, GrantError> = Err(GrantError::InvalidGrant);
    if kernel::token::recognize(input.code) != Some(TokenKind::AgentCode) {
        return Ok(INVALID);
    }
    let digests: Vec<_> = peppers.candidates(input.code).collect();
    let Some(authorization) = tx.authorization_by_code(&digests).await? else { return Ok(INVALID) };
    if !input.fits(&authorization) {
        return Ok(INVALID);
    }
    match authorization.stage {
        Stage::Allowed { allowed, until } if ctx.now < until => {
            // A minute is long enough to be removed in.
            if !tx.has_access(allowed.workspace, allowed.by, ctx.now).await? {
                return Ok(INVALID);
            }
            let grant = Grant {
                id: ctx.id(),
                workspace: allowed.workspace,
                user: allowed.by,
                client: authorization.client,
                access: allowed.access,
                audience: authorization.audience,
                created_at: ctx.now,
                last_used_at: None,
                expires_at: ctx.now + IDLE_LIFETIME,
                revoked_at: None,
            };
            tx.insert_grant(&grant).await?;
            tx.set_stage(authorization.id, &Stage::Redeemed { allowed, grant: grant.id }, None).await?;
            let refresh = kernel::token::mint(TokenKind::AgentRefresh, ctx.random());
            let first = (ctx.id(), refresh, 0);
            let tokens = issue_tokens(tx, ctx, peppers, &grant, grant.access, first).await?;
            let mut entry = ctx
                .audit("oauth_grant.create")
                .workspace(grant.workspace)
                .target(grant.id)
                .detail(serde_json::json!({ "client": grant.client.id, "access": grant.access }));
            entry.actor = actor(grant.user, grant.id);
            tx.audit(entry);
            Ok(Ok(tokens))
        }
        Stage::Redeemed { allowed, grant } => {
            if tx.revoke_grant(allowed.workspace, grant, ctx.now).await? {
                tx.audit(ctx.audit("oauth_grant.code_replayed").workspace(allowed.workspace).target(grant));
            }
            Ok(INVALID)
        }
        Stage::Allowed { .. } | Stage::Waiting | Stage::Seen { .. } | Stage::Denied { .. } => Ok(INVALID),
    }
}
