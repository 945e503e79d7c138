//! New tokens for an old refresh token (draft-ietf-oauth-v2-1 §4.3.1).

use chrono::TimeDelta;
use kernel::{
    Context, StoreError, Timestamp,
    id::TokenId,
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    IDLE_LIFETIME, RefreshState, RefreshToken, Tokens, actor,
    issue::{issue_access, issue_tokens},
};
use crate::oauth::{AgentAccess, GrantError, OAuthTx};

/// How long a spent refresh token is taken for a client that did not get the answer, or whose processes race.
pub const GRACE: TimeDelta = TimeDelta::seconds(60);

/// What a client sends to refresh its tokens.
#[derive(Debug, Clone, Copy)]
pub struct Refresh<'a> {
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
enum Worth {
    /// The next refresh token, and of which generation that is.
    Next(i64),
    /// The refresh token that took its place, once more.
    Again,
    /// Nothing. It was never used, so that nobody can have a copy of what came of it.
    Superseded,
    /// Nothing, and its grant neither: somebody has a copy of it.
    Stolen,
}

/// Judges a token beside the newest of its grant.
///
/// Several processes of one client share a token and race: within the grace all of them get the same successor, as long
/// as that one was not used to refresh, so that none of them ends what another goes on with.
fn judge(token: &RefreshToken, newest: &RefreshToken, now: Timestamp) -> Worth {
    match token.state {
        RefreshState::Newest => Worth::Next(token.generation + 1),
        // Replaced by another of its own generation, as servers before this one did.
        RefreshState::Spent { .. } if newest.generation <= token.generation => Worth::Superseded,
        RefreshState::Spent { at } if now < at + GRACE && newest.generation == token.generation + 1 => {
            Worth::Again
        }
        RefreshState::Spent { .. } => Worth::Stolen,
    }
}

/// The token that was made for a spent one, found by what it follows from; none when it was made another way, as by a
/// server with other keys.
async fn successor<T: OAuthTx + ?Sized>(
    tx: &mut T,
    peppers: &Peppers,
    spent: &str,
    newest: &RefreshToken,
) -> Result<Option<SecretString>, StoreError> {
    let salt = newest.id.uuid();
    for made in peppers.successors(TokenKind::AgentRefresh, spent, salt.as_bytes()) {
        let digests: Vec<_> = peppers.candidates(made.expose_secret()).collect();
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
    input: Refresh<'_>,
) -> Result<Result<Tokens, GrantError>, StoreError> {
    const INVALID: Result<Tokens, GrantError> = Err(GrantError::InvalidGrant);
    if token::recognize(input.token) != Some(TokenKind::AgentRefresh) {
        return Ok(INVALID);
    }
    let digests: Vec<_> = peppers.candidates(input.token).collect();
    let Some(seen) = tx.refresh_token(&digests).await? else { return Ok(INVALID) };
    // The grant's row is what those who race wait for; what the token is worth is read behind it.
    let Some(grant) = tx.grant(seen.workspace, seen.grant).await? else { return Ok(INVALID) };
    let fits = grant.is_live(ctx.now)
        && grant.client.id == input.client_id
        && input.audience.is_none_or(|audience| audience == grant.audience);
    let (Some(token), Some(newest)) =
        (tx.refresh_token(&digests).await?, tx.newest_refresh_token(grant.workspace, grant.id).await?)
    else {
        return Ok(INVALID);
    };
    if !fits {
        return Ok(INVALID);
    }
    let access = input.access.unwrap_or(grant.access);
    let entry = |action| {
        let mut entry = ctx.audit(action).workspace(grant.workspace).target(grant.id);
        entry.actor = actor(grant.user, grant.id);
        entry
    };
    // Whoever lost their access by the clock alone still has grants: nobody was there to end them.
    if !tx.has_access(grant.workspace, grant.user, ctx.now).await? {
        tx.revoke_grant(grant.workspace, grant.id, ctx.now).await?;
        tx.audit(entry("oauth_grant.access_ended"));
        return Ok(INVALID);
    }
    match judge(&token, &newest, ctx.now) {
        Worth::Stolen => {
            tx.revoke_grant(grant.workspace, grant.id, ctx.now).await?;
            tx.audit(entry("oauth_grant.refresh_reused"));
            Ok(INVALID)
        }
        Worth::Superseded => Ok(INVALID),
        Worth::Next(_) | Worth::Again if access > grant.access => Ok(Err(GrantError::InvalidScope)),
        Worth::Again => {
            let Some(refresh) = successor(tx, peppers, input.token, &newest).await? else {
                return Ok(INVALID);
            };
            let tokens = issue_access(tx, ctx, peppers, &grant, access, refresh).await?;
            tx.audit(entry("oauth_grant.refresh"));
            Ok(Ok(tokens))
        }
        Worth::Next(generation) => {
            tx.spend_refresh_token(grant.workspace, newest.id, ctx.now).await?;
            tx.renew_grant(grant.workspace, grant.id, ctx.now + IDLE_LIFETIME).await?;
            let id: TokenId = ctx.id();
            // `Peppers` holds at least one key; without one there would be nothing to derive from.
            let salt = id.uuid();
            let made = peppers.successors(TokenKind::AgentRefresh, input.token, salt.as_bytes()).next();
            let refresh = made.unwrap_or_else(|| token::mint(TokenKind::AgentRefresh, ctx.random()));
            let next = (id, refresh, generation);
            let tokens = issue_tokens(tx, ctx, peppers, &grant, access, next).await?;
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
            state: spent.map_or(RefreshState::Newest, |at| RefreshState::Spent { at: moment(at) }),
        }
    }

    fn judged(used: &RefreshToken, newest: i64, now: i64) -> Worth {
        judge(used, &token(newest, None), Timestamp::from_timestamp_millis(now * 1000).unwrap())
    }

    #[test]
    fn the_newest_is_worth_the_next() {
        assert_eq!(judged(&token(3, None), 3, 1_000_000), Worth::Next(4));
    }

    #[test]
    fn a_race_is_forgiven_for_a_minute_and_a_theft_is_not() {
        assert_eq!(judged(&token(3, Some(100)), 4, 159), Worth::Again, "the answer was lost, or shared");
        assert_eq!(judged(&token(3, Some(100)), 4, 160), Worth::Stolen, "too late");
        assert_eq!(judged(&token(3, Some(100)), 5, 101), Worth::Stolen, "its successor was used");
        assert_eq!(judged(&token(3, Some(100)), 9, 1_000_000), Worth::Stolen, "long ago");
    }

    #[test]
    fn what_was_replaced_before_anybody_used_it_is_no_theft() {
        for now in [101, 159, 160, 1_000_000] {
            assert_eq!(judged(&token(4, Some(100)), 4, now), Worth::Superseded, "{now}");
        }
    }
}
