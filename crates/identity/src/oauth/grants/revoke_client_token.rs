//! Token revocation by a client (RFC 7009).

use kernel::{
    Context, StoreError,
    token::{self, Peppers, TokenKind},
};

use super::audit_actor;
use crate::oauth::OAuthTx;

/// Revokes a token that its client presents: a refresh token with its grant, an access token alone. The call succeeds
/// without effect for an unknown token or another client's (RFC 7009, section 2.2).
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
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
    tx.audit(ctx.audit_entry(action).actor(audit_actor(&grant)).workspace(workspace).target(id));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{Caller, testing::at};
    use secrecy::{ExposeSecret as _, SecretString};

    use super::*;
    use crate::{
        oauth::grants::TokenPair,
        testing::{
            FakeStore,
            agents::{CLIENT_ID, granted_tokens, membership},
            aru, peppers, request_of, signed_in, visitor, workspace,
        },
    };

    /// A store with one grant, its tokens, and a request at the revocation endpoint.
    async fn store() -> (FakeStore, TokenPair, Context) {
        let ctx = signed_in(&aru());
        let mut store = FakeStore { members: vec![membership(&aru(), None)], ..FakeStore::default() };
        let tokens = granted_tokens(&mut store, &ctx).await;
        (store, tokens, request_of(&ctx, Caller::Anonymous))
    }

    async fn revoke(store: &mut FakeStore, ctx: &Context, client_id: &str, presented: &SecretString) {
        let presented = presented.expose_secret();
        revoke_client_token(store, ctx, &peppers(), client_id, presented).await.unwrap();
    }

    #[tokio::test]
    async fn a_refresh_token_ends_its_grant_once() {
        let (mut store, tokens, ctx) = store().await;
        for _ in 0..2 {
            revoke(&mut store, &ctx, CLIENT_ID, &tokens.refresh_token).await;
        }
        assert_eq!(store.grants[0].revoked_at, Some(at(0)));
        let actor = format!("{} by {}", aru().id, tokens.grant);
        store.assert_audited(&[("oauth_grant.revoke", &actor, &tokens.grant)]);
        assert_eq!(store.work.audit[0].workspace, Some(workspace()));
        store.assert_not_audited(&[tokens.refresh_token.expose_secret()]);
    }

    #[tokio::test]
    async fn an_access_token_ends_alone() {
        let (mut store, tokens, ctx) = store().await;
        for _ in 0..2 {
            revoke(&mut store, &ctx, CLIENT_ID, &tokens.access_token).await;
        }
        assert!(store.access_tokens.is_empty());
        assert_eq!((store.grants[0].revoked_at, store.refresh_tokens.len()), (None, 1));
        let actor = format!("{} by {}", aru().id, tokens.grant);
        store.assert_audited(&[("oauth_token.revoke", &actor, &tokens.grant)]);
        store.assert_not_audited(&[tokens.access_token.expose_secret()]);
    }

    #[tokio::test]
    async fn a_token_that_is_unknown_or_of_another_client_is_left_alone() {
        let (mut store, tokens, ctx) = store().await;
        let unknown = [TokenKind::AgentRefresh, TokenKind::AgentAccess, TokenKind::Personal]
            .map(|kind| token::mint(kind, ctx.random()));
        for presented in unknown.iter().chain([&SecretString::from("nonsense")]) {
            revoke(&mut store, &ctx, CLIENT_ID, presented).await;
        }
        for presented in [&tokens.refresh_token, &tokens.access_token] {
            revoke(&mut store, &ctx, "qac_2", presented).await;
        }
        assert_eq!(store.grants[0].revoked_at, None);
        assert_eq!((store.access_tokens.len(), store.refresh_tokens.len()), (1, 1));
        assert!(store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        for kind in [TokenKind::AgentRefresh, TokenKind::AgentAccess] {
            let (mut store, ctx) = (FakeStore::unavailable(), visitor());
            let presented = token::mint(kind, ctx.random());
            let presented = presented.expose_secret();
            let failed = revoke_client_token(&mut store, &ctx, &peppers(), CLIENT_ID, presented).await;
            assert!(matches!(failed, Err(StoreError::Unavailable(_))));
        }
    }
}
