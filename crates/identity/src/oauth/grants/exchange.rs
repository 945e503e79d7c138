//! A code becomes a grant and its first tokens (draft-ietf-oauth-v2-1 §4.1.3).

use kernel::{Context, StoreError, token::Peppers, token::TokenKind};

use super::{Grant, IDLE_LIFETIME, TokenPair, audit_actor, issue::issue_token_pair};
use crate::oauth::{Authorization, AuthorizationStage, GrantError, OAuthTx};

/// What a client sends to exchange a code.
#[derive(Debug, Clone, Copy)]
pub struct CodeExchange<'a> {
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

impl CodeExchange<'_> {
    /// Whether this comes from whoever asked for the code.
    fn matches(&self, authorization: &Authorization) -> bool {
        // Each is looked at, whatever the others say.
        (self.client_id == authorization.client.id)
            & authorization.challenge.verify(self.verifier)
            & self.redirect_uri.is_none_or(|uri| uri == authorization.redirect_uri.as_str())
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
pub async fn exchange_code(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    input: CodeExchange<'_>,
) -> Result<Result<TokenPair, GrantError>, StoreError> {
    const INVALID: Result<TokenPair, GrantError> = Err(GrantError::InvalidGrant);
    if kernel::token::detect_kind(input.code) != Some(TokenKind::AgentCode) {
        return Ok(INVALID);
    }
    let digests: Vec<_> = peppers.candidate_digests(input.code).collect();
    let Some(authorization) = tx.authorization_by_code(&digests).await? else { return Ok(INVALID) };
    if !input.matches(&authorization) {
        return Ok(INVALID);
    }
    match authorization.stage {
        AuthorizationStage::Allowed { consent, code_expires_at } if ctx.now < code_expires_at => {
            // A minute is long enough to be removed in.
            if !tx.has_access(consent.workspace, consent.by, ctx.now).await? {
                return Ok(INVALID);
            }
            let grant = Grant {
                id: ctx.new_id(),
                workspace: consent.workspace,
                user: consent.by,
                client: authorization.client,
                access: consent.access,
                audience: authorization.audience,
                created_at: ctx.now,
                last_used_at: None,
                expires_at: ctx.now + IDLE_LIFETIME,
                revoked_at: None,
            };
            tx.insert_grant(&grant).await?;
            tx.set_authorization_stage(
                authorization.id,
                &AuthorizationStage::Redeemed { consent, grant: grant.id },
                None,
            )
            .await?;
            let refresh = kernel::token::mint(TokenKind::AgentRefresh, ctx.random());
            let first = (ctx.new_id(), refresh, 0);
            let tokens = issue_token_pair(tx, ctx, peppers, &grant, grant.access, first).await?;
            let mut entry = ctx
                .audit_entry("oauth_grant.create")
                .workspace(grant.workspace)
                .target(grant.id)
                .detail(serde_json::json!({ "client": grant.client.id, "access": grant.access }));
            entry.actor = audit_actor(grant.user, grant.id);
            tx.audit(entry);
            Ok(Ok(tokens))
        }
        AuthorizationStage::Redeemed { consent, grant } => {
            if tx.revoke_grant(consent.workspace, grant, ctx.now).await? {
                tx.audit(
                    ctx.audit_entry("oauth_grant.code_replayed").workspace(consent.workspace).target(grant),
                );
            }
            Ok(INVALID)
        }
        AuthorizationStage::Allowed { .. }
        | AuthorizationStage::Pending
        | AuthorizationStage::Claimed { .. }
        | AuthorizationStage::Denied { .. } => Ok(INVALID),
    }
}
