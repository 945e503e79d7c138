//! New tokens for an old refresh token (draft-ietf-oauth-v2-1 §4.3.1).
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

/// How long a spent refresh token is taken for a client that did not get the answer, or whose processes race.
pub const REUSE_GRACE: TimeDelta = TimeDelta::seconds(60);

/// What a client sends to refresh its tokens.
#[derive(Debug, Clone, Copy)]
pub struct RefreshRequest<'a> {
    /// The refresh token.
    pub token: &'a str,
    /// Who it says it is.
    pub client_id: &'a str,
    /// What the access token is to be good for, when it is said.
    pub access: Option<AgentAccess>,
    /// What the tokens are to be for, when it is said.
    pub audience: Option<&'a str>,
}

/// What a refresh token that comes is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefreshOutcome {
    /// The next refresh token, and of which generation that is.
    Rotate(i64),
    /// The refresh token that took its place, once more.
    Reissue,
    /// Nothing. It was never used, so that nobody can have a copy of what came of it.
    Superseded,
    /// Nothing, and its grant neither: somebody has a copy of it.
    Reused,
}

/// Judges a token beside the newest of its grant.
///
/// Several processes of one client share a token and race: within the grace all of them get the same successor, as long
/// as that one was not used to refresh, so that none of them ends what another goes on with.
fn classify(token: &RefreshToken, newest: &RefreshToken, now: Timestamp) -> RefreshOutcome {
    match token.state {
        RefreshTokenState::Current => RefreshOutcome::Rotate(token.generation + 1),
        // Replaced by another of its own generation, as servers before this one did.
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

/// The token that was made for a spent one, found by what it follows from; none when it was made another way, as by a
/// server with other keys.
async fn find_successor<T: OAuthTx + ?Sized>(
    tx: &mut T,
    peppers: &Peppers,
    spent: &str,
    newest: &RefreshToken,
) -> Result<Option<SecretString>, StoreError> {
    let salt = newest.id.uuid();
    for made in peppers.derive_successors(TokenKind::AgentRefresh, spent, salt.as_bytes()) {
        let digests: Vec<_> = peppers.candidate_digests(made.expose_secret()).collect();
        if tx.refresh_token(&digests).await?.is_some_and(|known| known.id == newest.id) {
            return Ok(Some(made));
        }
    }
    Ok(None)
}

/// Refreshes the tokens of a grant. The outer result is the store's; the inner one, once committed, is the client's.
///
/// # Errors
/// What the store says.
pub async fn refresh_tokens<T: OAuthTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    input: RefreshRequest<'_>,
) -> Result<Result<TokenPair, GrantError>, StoreError> {
    const INVALID: Result<TokenPair, GrantError> = Err(GrantError::InvalidGrant);
    if token::detect_kind(input.token) != Some(TokenKind::AgentRefresh) {
        return Ok(INVALID);
    }
    let digests: Vec<_> = peppers.candidate_digests(input.token).collect();
    let Some(seen) = tx.refresh_token(&digests).await? else { return Ok(INVALID) };
    // The grant's row is what those who race wait for; what the token is worth is read behind it.
    let Some(grant) = tx.grant(seen.workspace, seen.grant).await? else { return Ok(INVALID) };
    let fits = grant.is_active(ctx.now)
        && grant.client.id == input.client_id
        && input.audience.is_none_or(|audience| audience == grant.audience);
    let (Some(token), Some(newest)) =
        (tx.refresh_token(&digests).await?, tx.current_refresh_token(grant.workspace, grant.id).await?)
    else {
        return Ok(INVALID);
    };
    if !fits {
        return Ok(INVALID);
    }
    let access = input.access.unwrap_or(grant.access);
    let entry = |action| {
        let mut entry = ctx.audit_entry(action).workspace(grant.workspace).target(grant.id);
        entry.actor = audit_actor(grant.user, grant.id);
        entry
    };
    // Whoever lost their access by the clock alone still has grants: nobody was there to end them.
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
            // `Peppers` holds at least one key; without one there would be nothing to derive from.
            let salt = id.uuid();
            let made =
                peppers.derive_successors(TokenKind::AgentRefresh, input.token, salt.as_bytes()).next();
            let refresh = made.unwrap_or_else(|| token::mint(TokenKind::AgentRefresh, ctx.random()));
            let next = (id, refresh, generation);
            let tokens = issue_token_pair(tx, ctx, peppers, &grant, access, next).await?;
            tx.audit(entry("oauth_grant.refresh"));
            Ok(Ok(tokens))
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;

    use super::*;

    fn token(generation: i64, spent: Option<i64>) -> RefreshToken {
        let moment = |seconds| Timestamp::from_timestamp_millis(seconds * 1000).unwrap();
        RefreshToken {
            id: Id::from_uuid(Default::default()),
            grant: Id::from_uuid(Default::default()),
            workspace: Id::from_uuid(Default::default()),
            generation,
            created_at: moment(0),
            state: spent
                .map_or(RefreshTokenState::Current, |at| RefreshTokenState::Rotated { at: moment(at) }),
        }
    }

    fn judged(used: &RefreshToken, newest: i64, now: i64) -> RefreshOutcome {
        classify(used, &token(newest, None), Timestamp::from_timestamp_millis(now * 1000).unwrap())
    }

    #[test]
    fn the_newest_is_worth_the_next() {
        assert_eq!(judged(&token(3, None), 3, 1_000_000), RefreshOutcome::Rotate(4));
    }

    #[test]
    fn a_race_is_forgiven_for_a_minute_and_a_theft_is_not() {
        assert_eq!(
            judged(&token(3, Some(100)), 4, 159),
            RefreshOutcome::Reissue,
            "the answer was lost, or shared"
        );
        assert_eq!(judged(&token(3, Some(100)), 4, 160), RefreshOutcome::Reused, "too late");
        assert_eq!(judged(&token(3, Some(100)), 5, 101), RefreshOutcome::Reused, "its successor was used");
        assert_eq!(judged(&token(3, Some(100)), 9, 1_000_000), RefreshOutcome::Reused, "long ago");
    }

    #[test]
    fn what_was_replaced_before_anybody_used_it_is_no_theft() {
        for now in [101, 159, 160, 1_000_000] {
            assert_eq!(judged(&token(4, Some(100)), 4, now), RefreshOutcome::Superseded, "{now}");
        }
    }
}
