//! Refreshing tokens, with rotation of the refresh token (draft-ietf-oauth-v2-1, section 4.3.1).
//! See `docs/decisions/0121-one-successor-for-racing-refreshes.md`.

use chrono::TimeDelta;
use kernel::{
    Context, StoreError, Timestamp,
    id::TokenId,
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    IDLE_LIFETIME, RefreshToken, RefreshTokenState, TokenPair, audit_actor,
    issue::{issue_access_token, issue_token_pair},
};
use crate::oauth::{AgentAccess, GrantError, OAuthTx};

/// Time during which a rotated refresh token is still accepted, for clients that lost the response or whose processes
/// race.
pub const REUSE_GRACE: TimeDelta = TimeDelta::seconds(60);

/// Token request with a refresh token.
#[derive(Debug, Clone, Copy)]
pub struct RefreshRequest<'a> {
    /// Refresh token.
    pub token: &'a str,
    /// Id that the client gives.
    pub client_id: &'a str,
    /// Access for the new access token, at most the grant's; by default the grant's.
    pub access: Option<AgentAccess>,
    /// Resource for the tokens, which must be the grant's if given.
    pub audience: Option<&'a str>,
}

/// Treatment of a presented refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefreshOutcome {
    /// Replace it by a refresh token of this generation.
    Rotate(i64),
    /// Return the token that replaced it again.
    Reissue,
    /// Refuse it. It was replaced without being used, so this is no sign of theft.
    Superseded,
    /// Refuse it and revoke the grant: two parties have a copy of it.
    Reused,
}

/// Compares a presented token with the newest of its grant.
///
/// Several processes of one client may share a token and race. Within [`REUSE_GRACE`], all of them get the same
/// successor as long as that has not been used itself, so that none of them revokes the grant of the others.
fn classify(token: &RefreshToken, newest: &RefreshToken, now: Timestamp) -> RefreshOutcome {
    match token.state {
        RefreshTokenState::Current => RefreshOutcome::Rotate(token.generation + 1),
        // Earlier versions of the server could replace a token by one of the same generation.
        RefreshTokenState::Rotated { .. } if newest.generation <= token.generation => {
            RefreshOutcome::Superseded
        }
        RefreshTokenState::Rotated { at }
            if now < at + REUSE_GRACE && newest.generation == token.generation + 1 =>
        {
            RefreshOutcome::Reissue
        }
        RefreshTokenState::Rotated { .. } => RefreshOutcome::Reused,
    }
}

/// Derives the successor of a rotated token again; none if the newest token is not derived from it with the current
/// keys, as when a server with other keys issued it.
async fn find_successor(
    tx: &mut dyn OAuthTx,
    peppers: &Peppers,
    rotated: &str,
    newest: &RefreshToken,
) -> Result<Option<SecretString>, StoreError> {
    let salt = newest.id.uuid();
    for successor in peppers.derive_successors(TokenKind::AgentRefresh, rotated, salt.as_bytes()) {
        let digests: Vec<_> = peppers.candidate_digests(successor.expose_secret()).collect();
        if tx.refresh_token(&digests).await?.is_some_and(|known| known.id == newest.id) {
            return Ok(Some(successor));
        }
    }
    Ok(None)
}

/// Refreshes the tokens of a grant.
///
/// A reused token, or a person without access, revokes the grant, so the caller commits if the outer result is `Ok`,
/// and then returns the inner one: the tokens, [`GrantError::InvalidGrant`] or [`GrantError::InvalidScope`].
///
/// # Errors
/// The outer [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn refresh_tokens(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    input: RefreshRequest<'_>,
) -> Result<Result<TokenPair, GrantError>, StoreError> {
    const INVALID: Result<TokenPair, GrantError> = Err(GrantError::InvalidGrant);
    if token::detect_kind(input.token) != Some(TokenKind::AgentRefresh) {
        return Ok(INVALID);
    }
    let digests: Vec<_> = peppers.candidate_digests(input.token).collect();
    let Some(presented) = tx.refresh_token(&digests).await? else { return Ok(INVALID) };
    // Concurrent requests wait for the lock on the grant's row, so the tokens are read again after it.
    let Some(grant) = tx.grant(presented.workspace, presented.grant).await? else { return Ok(INVALID) };
    let is_valid = grant.is_active(ctx.now)
        && grant.client.id == input.client_id
        && input.audience.is_none_or(|audience| audience == grant.audience);
    let (Some(token), Some(newest)) =
        (tx.refresh_token(&digests).await?, tx.current_refresh_token(grant.workspace, grant.id).await?)
    else {
        return Ok(INVALID);
    };
    if !is_valid {
        return Ok(INVALID);
    }
    let access = input.access.unwrap_or(grant.access);
    let entry = |action| {
        ctx.audit_entry(action).actor(audit_actor(&grant)).workspace(grant.workspace).target(grant.id)
    };
    // Access that expired by itself left its grants in place, since no request revoked them.
    if !tx.has_access(grant.workspace, grant.user, ctx.now).await? {
        tx.revoke_grant(grant.workspace, grant.id, ctx.now).await?;
        tx.audit(entry("oauth_grant.access_ended"));
        return Ok(INVALID);
    }
    match classify(&token, &newest, ctx.now) {
        RefreshOutcome::Reused => {
            tx.revoke_grant(grant.workspace, grant.id, ctx.now).await?;
            tx.audit(entry("oauth_grant.refresh_reused"));
            Ok(INVALID)
        }
        RefreshOutcome::Superseded => Ok(INVALID),
        RefreshOutcome::Rotate(_) | RefreshOutcome::Reissue if access > grant.access => {
            Ok(Err(GrantError::InvalidScope))
        }
        RefreshOutcome::Reissue => {
            let Some(refresh) = find_successor(tx, peppers, input.token, &newest).await? else {
                return Ok(INVALID);
            };
            let tokens = issue_access_token(tx, ctx, peppers, &grant, access, refresh).await?;
            tx.audit(entry("oauth_grant.refresh"));
            Ok(Ok(tokens))
        }
        RefreshOutcome::Rotate(generation) => {
            tx.mark_refresh_token_rotated(grant.workspace, newest.id, ctx.now).await?;
            tx.extend_grant(grant.workspace, grant.id, ctx.now + IDLE_LIFETIME).await?;
            let id: TokenId = ctx.new_id();
            // `Peppers` holds at least one key, so a successor is always derived; the random token only avoids a panic.
            let salt = id.uuid();
            let successor =
                peppers.derive_successors(TokenKind::AgentRefresh, input.token, salt.as_bytes()).next();
            let refresh = successor.unwrap_or_else(|| token::mint(TokenKind::AgentRefresh, ctx.random()));
            let next = (id, refresh, generation);
            let tokens = issue_token_pair(tx, ctx, peppers, &grant, access, next).await?;
            tx.audit(entry("oauth_grant.refresh"));
            Ok(Ok(tokens))
        }
    }
}

#[cfg(test)]
mod tests;
