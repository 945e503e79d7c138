//! Tests of refreshing tokens.

use kernel::{
    Caller,
    testing::{at, id},
};

use super::*;
use crate::{
    oauth::grants::Grant,
    testing::{
        FakeStore,
        agents::{AUDIENCE, CLIENT_ID, granted_tokens, membership},
        aru, later, peppers, request_of, signed_in, workspace,
    },
};

fn token(generation: i64, rotated_at: Option<i64>) -> RefreshToken {
    RefreshToken {
        id: id(1),
        grant: id(1),
        workspace: id(1),
        generation,
        created_at: at(0),
        state: rotated_at.map_or(RefreshTokenState::Current, |seconds| RefreshTokenState::Rotated {
            at: at(seconds * 1000),
        }),
    }
}

fn classified(used: &RefreshToken, newest: i64, now: i64) -> RefreshOutcome {
    classify(used, &token(newest, None), at(now * 1000))
}

#[test]
fn the_newest_token_is_rotated() {
    assert_eq!(classified(&token(3, None), 3, 1_000_000), RefreshOutcome::Rotate(4));
}

#[test]
fn a_race_is_forgiven_for_a_minute_and_a_theft_is_not() {
    let spent = token(3, Some(100));
    assert_eq!(classified(&spent, 4, 159), RefreshOutcome::Reissue, "the response was lost, or shared");
    assert_eq!(classified(&spent, 4, 160), RefreshOutcome::Reused, "too late");
    assert_eq!(classified(&spent, 5, 101), RefreshOutcome::Reused, "its successor was used");
    assert_eq!(classified(&spent, 9, 1_000_000), RefreshOutcome::Reused, "long ago");
}

#[test]
fn a_token_replaced_before_anybody_used_it_is_no_theft() {
    for now in [101, 159, 160, 1_000_000] {
        assert_eq!(classified(&token(4, Some(100)), 4, now), RefreshOutcome::Superseded, "{now}");
    }
}

/// A store with one grant, its first refresh token, and a request at the token endpoint.
async fn store() -> (FakeStore, String, Context) {
    let ctx = signed_in(&aru());
    let mut store = FakeStore { members: vec![membership(&aru(), None)], ..FakeStore::default() };
    let tokens = granted_tokens(&mut store, &ctx).await;
    (store, tokens.refresh_token.expose_secret().to_owned(), request_of(&ctx, Caller::Anonymous))
}

fn request(token: &str) -> RefreshRequest<'_> {
    RefreshRequest { token, client_id: CLIENT_ID, access: None, audience: Some(AUDIENCE) }
}

async fn refresh(
    store: &mut FakeStore,
    ctx: &Context,
    input: RefreshRequest<'_>,
) -> Result<TokenPair, GrantError> {
    refresh_tokens(store, ctx, &peppers(), input).await.unwrap()
}

/// The actor of audit entries about the store's grant.
fn actor(grant: &Grant) -> String {
    format!("{} by {}", aru().id, grant.id)
}

#[tokio::test]
async fn a_refresh_rotates_the_token_and_extends_the_grant() {
    let (mut store, first, ctx) = store().await;
    let ctx = later(&ctx, TimeDelta::days(89));
    let tokens = refresh(&mut store, &ctx, request(&first)).await.unwrap();

    let [access, second] =
        [&tokens.access_token, &tokens.refresh_token].map(secrecy::ExposeSecret::expose_secret);
    assert_ne!(second, first);
    let grant = &store.grants[0];
    assert_eq!((tokens.grant, tokens.access), (grant.id, AgentAccess::Write));
    assert_eq!(grant.expires_at, ctx.now + IDLE_LIFETIME);
    let [(rotated, _), (current, digest)] = &store.refresh_tokens[..] else { panic!("two refresh tokens") };
    assert_eq!(rotated.state, RefreshTokenState::Rotated { at: ctx.now });
    assert_eq!((current.generation, current.state), (1, RefreshTokenState::Current));
    assert_eq!(*digest, peppers().digest(second));
    let (access_token, digest) = store.access_tokens.last().unwrap();
    assert_eq!((access_token.access, *digest), (AgentAccess::Write, peppers().digest(access)));
    assert_eq!(access_token.expires_at, ctx.now + TimeDelta::hours(1));
    store.assert_audited(&[("oauth_grant.refresh", &actor(grant), &grant.id)]);
    assert_eq!(store.work.audit[0].workspace, Some(workspace()));
    store.assert_not_audited(&[&first, access, second]);
}

#[tokio::test]
async fn racing_processes_of_one_client_get_the_same_successor() {
    let (mut store, first, ctx) = store().await;
    let winner = refresh(&mut store, &ctx, request(&first)).await.unwrap();
    let late = later(&ctx, REUSE_GRACE - TimeDelta::milliseconds(1));
    let loser = refresh(&mut store, &late, request(&first)).await.unwrap();

    assert_eq!(loser.refresh_token.expose_secret(), winner.refresh_token.expose_secret());
    assert_ne!(loser.access_token.expose_secret(), winner.access_token.expose_secret());
    assert_eq!((store.refresh_tokens.len(), store.access_tokens.len()), (2, 3));
    assert_eq!(store.grants[0].revoked_at, None);
    assert_eq!(store.work.audited_actions(), ["oauth_grant.refresh", "oauth_grant.refresh"]);
}

#[tokio::test]
async fn a_request_that_waited_for_the_lock_sees_what_the_other_did() {
    let (mut store, first, ctx) = store().await;
    let before = store.refresh_tokens.clone();
    let winner = refresh(&mut store, &ctx, request(&first)).await.unwrap();
    store.racing_refresh_tokens = Some(std::mem::replace(&mut store.refresh_tokens, before));
    let loser = refresh(&mut store, &ctx, request(&first)).await.unwrap();

    assert_eq!(loser.refresh_token.expose_secret(), winner.refresh_token.expose_secret());
    assert_eq!(store.refresh_tokens.len(), 2);
}

#[tokio::test]
async fn a_successor_made_with_other_keys_is_not_found_again() {
    let (mut store, first, ctx) = store().await;
    refresh(&mut store, &ctx, request(&first)).await.unwrap();
    store.refresh_tokens[1].1 = peppers().digest("another server's token");
    store.work.audit.clear();
    let refused = refresh(&mut store, &ctx, request(&first)).await;

    assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant);
    assert_eq!(store.grants[0].revoked_at, None);
    assert!(store.work.audit.is_empty());
}

#[tokio::test]
async fn a_token_reused_after_the_grace_or_its_successor_revokes_the_grant() {
    for used_up in [false, true] {
        let (mut store, first, ctx) = store().await;
        let second = refresh(&mut store, &ctx, request(&first)).await.unwrap().refresh_token;
        let mut reuse = later(&ctx, REUSE_GRACE);
        if used_up {
            refresh(&mut store, &ctx, request(second.expose_secret())).await.unwrap();
            reuse = ctx.clone();
        }
        store.work.audit.clear();
        let stolen = refresh(&mut store, &reuse, request(&first)).await;

        assert_eq!(stolen.unwrap_err(), GrantError::InvalidGrant);
        let grant = &store.grants[0];
        assert_eq!(grant.revoked_at, Some(reuse.now));
        store.assert_audited(&[("oauth_grant.refresh_reused", &actor(grant), &grant.id)]);

        let newest = refresh(&mut store, &reuse, request(second.expose_secret())).await;
        assert_eq!(newest.unwrap_err(), GrantError::InvalidGrant, "every token ends with the grant");
        assert_eq!(store.work.audit.len(), 1);
    }
}

#[tokio::test]
async fn a_superseded_token_gets_nothing_and_ends_nothing() {
    let (mut store, first, ctx) = store().await;
    refresh(&mut store, &ctx, request(&first)).await.unwrap();
    store.refresh_tokens[1].0.generation = 0;
    store.work.audit.clear();
    let refused = refresh(&mut store, &later(&ctx, TimeDelta::days(1)), request(&first)).await;

    assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant);
    assert_eq!(store.grants[0].revoked_at, None);
    assert!(store.work.audit.is_empty());
}

#[tokio::test]
async fn less_access_may_be_requested_and_never_more() {
    let (mut store, first, ctx) = store().await;
    let input = RefreshRequest { access: Some(AgentAccess::Read), ..request(&first) };
    let tokens = refresh(&mut store, &ctx, input).await.unwrap();
    assert_eq!(tokens.access, AgentAccess::Read);
    assert_eq!(store.access_tokens.last().unwrap().0.access, AgentAccess::Read);
    assert_eq!(store.grants[0].access, AgentAccess::Write, "the grant stays as it was");

    store.grants[0].access = AgentAccess::Read;
    store.work.audit.clear();
    let rows = (store.refresh_tokens.clone(), store.access_tokens.clone());
    let current = tokens.refresh_token.expose_secret().to_owned();
    for token in [&first, &current] {
        let input = RefreshRequest { access: Some(AgentAccess::Write), ..request(token) };
        let refused = refresh(&mut store, &ctx, input).await;
        assert_eq!(refused.unwrap_err(), GrantError::InvalidScope);
    }
    assert_eq!((&store.refresh_tokens, &store.access_tokens), (&rows.0, &rows.1));
    assert!(store.work.audit.is_empty());
}

#[tokio::test]
async fn a_token_that_is_unknown_foreign_or_of_another_kind_is_not_valid() {
    let (mut store, first, ctx) = store().await;
    let unknown = token::mint(TokenKind::AgentRefresh, ctx.random());
    let access = token::mint(TokenKind::AgentAccess, ctx.random());
    let (extra, _) = store.refresh_tokens[0].clone();
    store.refresh_tokens.push((extra, peppers().digest(access.expose_secret())));
    for input in [
        request(""),
        request(unknown.expose_secret()),
        request(access.expose_secret()),
        RefreshRequest { client_id: "qac_2", ..request(&first) },
        RefreshRequest { audience: Some("https://other.example/mcp"), ..request(&first) },
    ] {
        let refused = refresh(&mut store, &ctx, input).await;
        assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant, "{input:?}");
    }
    store.refresh_tokens.pop();
    assert_eq!(store.refresh_tokens[0].0.state, RefreshTokenState::Current);
    assert!(store.work.audit.is_empty());
    let no_audience = RefreshRequest { audience: None, ..request(&first) };
    assert!(refresh(&mut store, &ctx, no_audience).await.is_ok());
}

#[tokio::test]
async fn a_grant_that_is_revoked_or_expired_is_not_refreshed() {
    let (mut revoked, token_of_revoked, ctx) = store().await;
    revoked.grants[0].revoked_at = Some(at(0));
    let (mut expired, token_of_expired, _) = store().await;
    let late = later(&ctx, IDLE_LIFETIME);
    for (store, ctx, token) in
        [(&mut revoked, &ctx, &token_of_revoked), (&mut expired, &late, &token_of_expired)]
    {
        let refused = refresh(store, ctx, request(token)).await;
        assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant);
        assert_eq!(store.refresh_tokens.len(), 1);
        assert!(store.work.audit.is_empty());
    }
}

#[tokio::test]
async fn a_grant_whose_person_lost_their_access_is_revoked() {
    for members in [vec![], vec![membership(&aru(), Some(at(0)))]] {
        let (store, first, ctx) = store().await;
        let mut store = FakeStore { members, ..store };
        let refused = refresh(&mut store, &ctx, request(&first)).await;

        assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant);
        let grant = &store.grants[0];
        assert_eq!((grant.revoked_at, store.refresh_tokens.len()), (Some(at(0)), 1));
        store.assert_audited(&[("oauth_grant.access_ended", &actor(grant), &grant.id)]);
    }
}

#[tokio::test]
async fn a_failure_of_the_store_is_passed_on() {
    let (_, first, ctx) = store().await;
    let failed = refresh_tokens(&mut FakeStore::unavailable(), &ctx, &peppers(), request(&first)).await;
    assert!(matches!(failed, Err(StoreError::Unavailable(_))));
}
