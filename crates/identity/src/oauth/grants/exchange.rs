//! Exchanging a code for a grant and its first tokens (draft-ietf-oauth-v2-1, section 4.1.3).

use kernel::{Context, StoreError, token::Peppers, token::TokenKind};

use super::{Grant, IDLE_LIFETIME, TokenPair, audit_actor, issue::issue_token_pair};
use crate::oauth::{Authorization, AuthorizationStage, GrantError, OAuthTx};

/// Token request with an authorization code.
#[derive(Debug, Clone, Copy)]
pub struct CodeExchange<'a> {
    /// Authorization code.
    pub code: &'a str,
    /// Id that the client gives.
    pub client_id: &'a str,
    /// PKCE verifier of the authorization's challenge.
    pub verifier: &'a str,
    /// Redirect URI, which must be the authorization's if given.
    pub redirect_uri: Option<&'a str>,
    /// Resource for the tokens, which must be the authorization's if given.
    pub audience: Option<&'a str>,
}

impl CodeExchange<'_> {
    /// True if the request comes from the client that requested the code.
    fn matches(&self, authorization: &Authorization) -> bool {
        // No short circuit, so that the time taken does not tell which check failed.
        (self.client_id == authorization.client.id)
            & authorization.challenge.verify(self.verifier)
            & self.redirect_uri.is_none_or(|uri| uri == authorization.redirect_uri.as_str())
            & self.audience.is_none_or(|audience| audience == authorization.audience)
    }
}

/// Exchanges a code, once.
///
/// A second exchange by the client that requested the code revokes the grant, since somebody else may have used the
/// code. A request that does not prove this is refused and revokes nothing; otherwise an intercepted code would suffice
/// to end a grant (draft-ietf-oauth-v2-1, section 7.5.2).
///
/// The caller commits if the outer result is `Ok`, and then returns the inner one: the tokens or
/// [`GrantError::InvalidGrant`].
///
/// # Errors
/// The outer [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
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
            // The person may have lost their access since they allowed the client.
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
            let entry = ctx
                .audit_entry("oauth_grant.create")
                .actor(audit_actor(&grant))
                .workspace(grant.workspace)
                .target(grant.id)
                .detail(serde_json::json!({ "client": grant.client.id, "access": grant.access }));
            tx.audit(entry);
            Ok(Ok(tokens))
        }
        AuthorizationStage::Redeemed { consent, grant } => {
            if tx.revoke_grant(consent.workspace, grant, ctx.now).await? {
                let entry = ctx.audit_entry("oauth_grant.code_replayed").workspace(consent.workspace);
                tx.audit(entry.target(grant).owner(consent.by));
            }
            Ok(INVALID)
        }
        AuthorizationStage::Allowed { .. }
        | AuthorizationStage::Pending
        | AuthorizationStage::Claimed { .. }
        | AuthorizationStage::Denied { .. } => Ok(INVALID),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::testing::at;
    use secrecy::ExposeSecret as _;
    use serde_json::json;

    use super::*;
    use crate::{
        oauth::{
            AgentAccess,
            authorizations::{CODE_LIFETIME, Consent},
            grants::RefreshTokenState,
        },
        testing::{
            FakeStore,
            agents::{AUDIENCE, CLIENT_ID, REDIRECT_URI, client, code_exchange, issued_code, membership},
            aru, bek, later, peppers, request_of, signed_in, workspace,
        },
    };

    /// A store in which a person has just allowed a client, its code, and a request at the token endpoint.
    async fn store() -> (FakeStore, String, Context) {
        let ctx = signed_in(&aru());
        let mut store = FakeStore { members: vec![membership(&aru(), None)], ..FakeStore::default() };
        let code = issued_code(&mut store, &ctx).await;
        store.work.audit.clear();
        (store, code, request_of(&ctx, kernel::Caller::Anonymous))
    }

    async fn exchange(
        store: &mut FakeStore,
        ctx: &Context,
        input: CodeExchange<'_>,
    ) -> Result<TokenPair, GrantError> {
        exchange_code(store, ctx, &peppers(), input).await.unwrap()
    }

    #[tokio::test]
    async fn a_code_becomes_a_grant_and_its_first_tokens() {
        let (mut store, code, ctx) = store().await;
        let tokens = exchange(&mut store, &ctx, code_exchange(&code)).await.unwrap();

        let [grant] = &store.grants[..] else { panic!("one grant") };
        let expected = Grant {
            id: tokens.grant,
            workspace: workspace(),
            user: aru().id,
            client: client().snapshot,
            access: AgentAccess::Write,
            audience: AUDIENCE.to_owned(),
            created_at: at(0),
            last_used_at: None,
            expires_at: at(0) + TimeDelta::days(90),
            revoked_at: None,
        };
        assert_eq!((grant, tokens.access), (&expected, AgentAccess::Write));
        let consent = Consent { by: aru().id, workspace: workspace(), access: AgentAccess::Write };
        let stage = AuthorizationStage::Redeemed { consent, grant: grant.id };
        assert_eq!(store.authorizations[0].0.stage, stage);

        let [access, refresh] =
            [&tokens.access_token, &tokens.refresh_token].map(secrecy::ExposeSecret::expose_secret);
        assert_eq!(kernel::token::detect_kind(access), Some(TokenKind::AgentAccess));
        assert_eq!(kernel::token::detect_kind(refresh), Some(TokenKind::AgentRefresh));
        let [(access_token, digest)] = &store.access_tokens[..] else { panic!("one access token") };
        assert_eq!(*digest, peppers().digest(access));
        assert_eq!((access_token.grant, access_token.access), (grant.id, AgentAccess::Write));
        assert_eq!(access_token.expires_at, at(0) + TimeDelta::hours(1));
        let [(refresh_token, digest)] = &store.refresh_tokens[..] else { panic!("one refresh token") };
        assert_eq!(*digest, peppers().digest(refresh));
        assert_eq!((refresh_token.generation, refresh_token.state), (0, RefreshTokenState::Current));

        let actor = format!("{} by {}", aru().id, grant.id);
        store.assert_audited(&[("oauth_grant.create", &actor, &grant.id)]);
        let entry = &store.work.audit[0];
        assert_eq!(entry.workspace, Some(workspace()));
        assert_eq!(entry.detail, Some(json!({ "client": CLIENT_ID, "access": "write" })));
        store.assert_not_audited(&[&code, access, refresh]);
    }

    #[tokio::test]
    async fn a_code_used_twice_by_its_client_revokes_the_grant() {
        let (mut store, code, ctx) = store().await;
        let tokens = exchange(&mut store, &ctx, code_exchange(&code)).await.unwrap();
        store.work.audit.clear();
        for _ in 0..2 {
            let replayed = exchange(&mut store, &ctx, code_exchange(&code)).await;
            assert_eq!(replayed.unwrap_err(), GrantError::InvalidGrant);
        }

        assert_eq!(store.grants.len(), 1);
        assert_eq!(store.grants[0].revoked_at, Some(at(0)));
        store.assert_audited(&[("oauth_grant.code_replayed", &"visitor", &tokens.grant)]);
        assert_eq!(store.work.audit[0].workspace, Some(workspace()));
    }

    #[tokio::test]
    async fn whoever_cannot_prove_the_code_theirs_gets_and_ends_nothing() {
        let (mut store, code, ctx) = store().await;
        let good = code_exchange(&code);
        let other_verifier = "a".repeat(43);
        let forged = [
            CodeExchange { client_id: "qac_2", ..good },
            CodeExchange { verifier: &other_verifier, ..good },
            CodeExchange { verifier: "", ..good },
            CodeExchange { redirect_uri: Some("https://client.example/other"), ..good },
            CodeExchange { audience: Some("https://other.example/mcp"), ..good },
        ];
        for input in forged {
            let refused = exchange(&mut store, &ctx, input).await;
            assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant, "{input:?}");
        }
        assert!(store.grants.is_empty(), "the code is still good");
        exchange(&mut store, &ctx, good).await.unwrap();
        for input in forged {
            let refused = exchange(&mut store, &ctx, input).await;
            assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant, "{input:?}");
        }
        assert_eq!((store.grants.len(), store.grants[0].revoked_at), (1, None));
        assert_eq!(store.work.audited_actions(), ["oauth_grant.create"]);
    }

    #[tokio::test]
    async fn redirect_uri_and_audience_may_be_left_out() {
        let (mut store, code, ctx) = store().await;
        let input = CodeExchange { redirect_uri: None, audience: None, ..code_exchange(&code) };
        assert!(exchange(&mut store, &ctx, input).await.is_ok());
        assert_eq!(store.grants[0].audience, AUDIENCE);
        assert_eq!(store.authorizations[0].0.redirect_uri.as_str(), REDIRECT_URI);
    }

    #[tokio::test]
    async fn a_code_that_is_unknown_or_too_old_is_not_valid() {
        let (mut store, code, ctx) = store().await;
        let unknown = kernel::token::mint(TokenKind::AgentCode, ctx.random());
        let late = later(&ctx, CODE_LIFETIME);
        for (code, ctx) in [("", &ctx), ("qoc_", &ctx), (unknown.expose_secret(), &ctx), (&code, &late)] {
            let refused = exchange(&mut store, ctx, code_exchange(code)).await;
            assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant, "{code}");
        }
        assert!(store.grants.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_token_of_another_kind_is_no_code() {
        let (mut store, _, ctx) = store().await;
        let session = kernel::token::mint(TokenKind::Session, ctx.random());
        store.authorizations[0].1 = Some(peppers().digest(session.expose_secret()));
        let refused = exchange(&mut store, &ctx, code_exchange(session.expose_secret())).await;
        assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant);
        assert!(store.grants.is_empty());
    }

    #[tokio::test]
    async fn a_code_of_an_authorization_that_is_not_allowed_is_not_valid() {
        for stage in [
            AuthorizationStage::Pending,
            AuthorizationStage::Claimed { by: aru().id },
            AuthorizationStage::Denied { by: aru().id },
        ] {
            let (mut store, code, ctx) = store().await;
            store.authorizations[0].0.stage = stage.clone();
            let refused = exchange(&mut store, &ctx, code_exchange(&code)).await;
            assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant, "{stage:?}");
            assert_eq!(store.authorizations[0].0.stage, stage);
            assert!(store.grants.is_empty() && store.work.audit.is_empty());
        }
    }

    #[tokio::test]
    async fn a_person_who_lost_their_access_meanwhile_gives_no_grant() {
        for members in [vec![], vec![membership(&aru(), Some(at(0)))], vec![membership(&bek(), None)]] {
            let (store, code, ctx) = store().await;
            let mut store = FakeStore { members, ..store };
            let refused = exchange(&mut store, &ctx, code_exchange(&code)).await;
            assert_eq!(refused.unwrap_err(), GrantError::InvalidGrant);
            assert!(store.grants.is_empty() && store.access_tokens.is_empty());
            assert!(store.work.audit.is_empty());
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let (_, code, ctx) = store().await;
        let failed =
            exchange_code(&mut FakeStore::unavailable(), &ctx, &peppers(), code_exchange(&code)).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))));
    }
}
