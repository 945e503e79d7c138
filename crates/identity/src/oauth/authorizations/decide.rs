//! Deciding an authorization.

use kernel::{
    Context,
    authority::Member,
    id::{AuthorizationId, UserId},
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{AuthorizationStage, CODE_LIFETIME, Consent, claim_authorization};
use crate::oauth::{AgentAccess, ConsentError, OAuthTx};

/// Decision of the person.
#[derive(Debug, Clone)]
pub enum ConsentDecision {
    /// Deny the request.
    Deny,
    /// Allow the request in the member's workspace.
    Allow {
        /// Proof of the person's membership.
        member: Member,
        /// Access of the client; by default the requested access.
        access: Option<AgentAccess>,
    },
}

/// Result of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentOutcome {
    /// The response carries a code.
    Allowed,
    /// The response carries the error `access_denied`.
    Denied,
}

/// Authorization response for the client.
#[derive(Debug)]
pub struct AuthorizationResponse {
    /// Result of the decision.
    pub outcome: ConsentOutcome,
    /// Redirect URI with the parameters of the response; secret, since it may hold the code.
    pub redirect_to: SecretString,
}

/// Decides an authorization, once. `issuer` becomes the parameter `iss` of the response (RFC 9207).
///
/// The response goes to the redirect URI that was stored with the request, and to no other.
///
/// # Errors
/// The errors of [`claim_authorization`](super::claim_authorization); [`ConsentError::ExceedsRequestedAccess`] if more
/// is allowed than was requested, or the membership is not `user`'s.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn decide_authorization(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    issuer: &str,
    (id, user): (AuthorizationId, UserId),
    decision: ConsentDecision,
) -> Result<AuthorizationResponse, ConsentError> {
    let authorization = claim_authorization(tx, ctx, user, id).await?;
    let mut response_params: Vec<(&str, &str)> = Vec::with_capacity(3);
    let code;
    let entry = ctx.audit_entry("authorization.decide").target(id);
    let outcome = match decision {
        ConsentDecision::Deny => {
            tx.set_authorization_stage(id, &AuthorizationStage::Denied { by: user }, None).await?;
            tx.audit(
                entry.detail(serde_json::json!({ "outcome": "denied", "client": authorization.client.id })),
            );
            response_params.push(("error", "access_denied"));
            ConsentOutcome::Denied
        }
        ConsentDecision::Allow { member, access } => {
            let access = access.unwrap_or(authorization.requested);
            // With somebody else's membership, the client of this person would act for them.
            if access > authorization.requested || member.user() != user {
                return Err(ConsentError::ExceedsRequestedAccess);
            }
            code = token::mint(TokenKind::AgentCode, ctx.random());
            let digest = peppers.digest(code.expose_secret());
            let consent = Consent { by: user, workspace: member.workspace(), access };
            let stage = AuthorizationStage::Allowed { consent, code_expires_at: ctx.now + CODE_LIFETIME };
            tx.set_authorization_stage(id, &stage, Some(&digest)).await?;
            let detail = serde_json::json!({
                "outcome": "allowed", "client": authorization.client.id, "access": access,
            });
            tx.audit(entry.workspace(consent.workspace).detail(detail));
            response_params.push(("code", code.expose_secret()));
            ConsentOutcome::Allowed
        }
    };
    if let Some(state) = &authorization.state {
        response_params.push(("state", state));
    }
    response_params.push(("iss", issuer));
    let redirect_to = authorization.redirect_uri.with_query(&response_params).into();
    Ok(AuthorizationResponse { outcome, redirect_to })
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        authority::Role,
        testing::{at, id, member},
    };
    use serde_json::json;

    use super::*;
    use crate::{
        User,
        oauth::authorizations::LIFETIME,
        testing::{
            FakeStore,
            agents::{
                CLIENT_ID, ISSUER, authorization_request, client, pending_authorization, query_parameter,
            },
            aru, bek, later, peppers, signed_in, visitor, workspace,
        },
    };

    async fn decide(
        store: &mut FakeStore,
        ctx: &Context,
        id: AuthorizationId,
        decision: ConsentDecision,
    ) -> Result<AuthorizationResponse, ConsentError> {
        let user = ctx.caller.user().unwrap();
        decide_authorization(store, ctx, &peppers(), ISSUER, (id, user), decision).await
    }

    fn allow(user: &User, access: Option<AgentAccess>) -> ConsentDecision {
        ConsentDecision::Allow { member: member(&signed_in(user), workspace(), Role::Builder), access }
    }

    async fn store() -> (FakeStore, AuthorizationId) {
        let mut store = FakeStore::default();
        let authorization = pending_authorization(&mut store, &visitor()).await;
        store.work.audit.clear();
        (store, authorization.id)
    }

    #[tokio::test]
    async fn an_allowed_client_is_sent_a_code_once() {
        let (mut store, id) = store().await;
        let ctx = signed_in(&aru());
        let decided = decide(&mut store, &ctx, id, allow(&aru(), None)).await.unwrap();
        let again = decide(&mut store, &ctx, id, ConsentDecision::Deny).await;

        assert!(matches!(again, Err(ConsentError::AlreadyDecided)));
        assert_eq!(decided.outcome, ConsentOutcome::Allowed);
        let code = query_parameter(&decided.redirect_to, "code").unwrap();
        assert_eq!(token::detect_kind(&code), Some(TokenKind::AgentCode));
        assert!(decided.redirect_to.expose_secret().starts_with("https://client.example/cb?code="));
        assert_eq!(query_parameter(&decided.redirect_to, "state").as_deref(), Some("xyz"));
        assert_eq!(query_parameter(&decided.redirect_to, "iss").as_deref(), Some(ISSUER));
        let consent = Consent { by: aru().id, workspace: workspace(), access: AgentAccess::Write };
        let (authorization, digest) = &store.authorizations[0];
        let code_expires_at = at(60_000);
        assert_eq!(authorization.stage, AuthorizationStage::Allowed { consent, code_expires_at });
        assert_eq!(*digest, Some(peppers().digest(&code)));
        store.assert_audited(&[
            ("authorization.open", &aru().id, &id),
            ("authorization.decide", &aru().id, &id),
        ]);
        let entry = &store.work.audit[1];
        assert_eq!(entry.workspace, Some(workspace()));
        let detail = json!({ "outcome": "allowed", "client": CLIENT_ID, "access": "write" });
        assert_eq!(entry.detail, Some(detail));
        store.assert_not_audited(&[&code, "xyz"]);
    }

    #[tokio::test]
    async fn a_denied_client_is_sent_an_error_and_no_code() {
        let (mut store, id) = store().await;
        let ctx = signed_in(&aru());
        let decided = decide(&mut store, &ctx, id, ConsentDecision::Deny).await.unwrap();
        let again = decide(&mut store, &ctx, id, allow(&aru(), None)).await;

        assert!(matches!(again, Err(ConsentError::AlreadyDecided)));
        assert_eq!(decided.outcome, ConsentOutcome::Denied);
        let address =
            "https://client.example/cb?error=access_denied&state=xyz&iss=https%3A%2F%2Fqala.example";
        assert_eq!(decided.redirect_to.expose_secret(), address);
        let (authorization, digest) = &store.authorizations[0];
        assert_eq!(authorization.stage, AuthorizationStage::Denied { by: aru().id });
        assert_eq!(*digest, None);
        let entry = &store.work.audit[1];
        assert_eq!((&*entry.action, entry.workspace), ("authorization.decide", None));
        assert_eq!(entry.detail, Some(json!({ "outcome": "denied", "client": CLIENT_ID })));
    }

    #[tokio::test]
    async fn less_may_be_allowed_than_was_requested_and_never_more() {
        for (requested, access, allowed) in [
            (AgentAccess::Write, Some(AgentAccess::Read), Some(AgentAccess::Read)),
            (AgentAccess::Read, None, Some(AgentAccess::Read)),
            (AgentAccess::Read, Some(AgentAccess::Write), None),
        ] {
            let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
            let request = authorization_request(requested);
            let asked = super::super::create_authorization(&mut store, &ctx, &client(), request).await;
            let decided = decide(&mut store, &ctx, asked.unwrap().id, allow(&aru(), access)).await;
            match (decided, &store.authorizations[0]) {
                (Ok(_), (authorization, Some(_))) => {
                    let AuthorizationStage::Allowed { consent, .. } = &authorization.stage else {
                        panic!("allowed")
                    };
                    assert_eq!(Some(consent.access), allowed);
                }
                (Err(ConsentError::ExceedsRequestedAccess), (authorization, None)) => {
                    assert_eq!(allowed, None);
                    assert!(!authorization.stage.is_decided());
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn the_membership_of_somebody_else_allows_nothing() {
        let (mut store, id) = store().await;
        let refused = decide(&mut store, &signed_in(&aru()), id, allow(&bek(), None)).await;
        assert!(matches!(refused, Err(ConsentError::ExceedsRequestedAccess)));
        assert_eq!(store.authorizations[0].0.stage, AuthorizationStage::Claimed { by: aru().id });
        assert_eq!(store.work.audited_actions(), ["authorization.open"]);
    }

    #[tokio::test]
    async fn an_authorization_that_is_foreign_unknown_or_too_old_is_not_found() {
        let (mut store, known) = store().await;
        let (ctx, other) = (signed_in(&aru()), signed_in(&bek()));
        store.authorizations[0].0.stage = AuthorizationStage::Claimed { by: aru().id };
        for (ctx, user, id) in
            [(&other, bek(), known), (&ctx, aru(), id(404)), (&later(&ctx, LIFETIME), aru(), known)]
        {
            let refused = decide(&mut store, ctx, id, allow(&user, None)).await;
            assert!(matches!(refused, Err(ConsentError::AuthorizationNotFound)));
        }
        assert!(store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = decide(&mut store, &signed_in(&aru()), id(1), ConsentDecision::Deny).await;
        assert!(matches!(failed, Err(ConsentError::Store(StoreError::Unavailable(_)))));
    }
}
