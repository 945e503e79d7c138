//! Delivering the token of an approved device login.

use kernel::{Context, authority::MembershipFact, token::Peppers};

use super::{DeviceApproval, DeviceLogin};
use crate::{
    IdentityError, IdentityTx,
    tokens::{self, CreateToken, CreatedToken},
};

/// Result of redeeming an approved login.
#[derive(Debug)]
pub enum RedeemOutcome {
    /// The new token; it is delivered this once.
    Token(Box<CreatedToken>),
    /// The person who approved the login no longer has access to the workspace.
    Denied,
    /// Another poll redeemed the login first, or the login is no longer approved.
    Expired,
}

/// Creates the token of an approved login, exactly once for any number of concurrent polls.
///
/// `fact` is the approver's current membership of the workspace. The caller commits for every outcome.
///
/// # Errors
/// [`IdentityError::TooManyTokens`] if the approver has too many tokens in the workspace; [`IdentityError::Store`] if
/// the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn redeem_device_login(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    login: &DeviceLogin,
    approval: &DeviceApproval,
    fact: Option<&MembershipFact>,
) -> Result<RedeemOutcome, IdentityError> {
    if !tx.mark_device_login_delivered(login.id, ctx.now).await? {
        return Ok(RedeemOutcome::Expired);
    }
    let is_member = fact.is_some_and(|fact| {
        (fact.workspace, fact.user) == (approval.workspace, approval.approved_by)
            && fact.access_ends_at.is_none_or(|end| ctx.now < end)
    });
    if !is_member {
        tx.audit(ctx.audit_entry("device.lapse").workspace(approval.workspace).target(login.id));
        return Ok(RedeemOutcome::Denied);
    }
    let input = CreateToken {
        name: login.request.name.clone(),
        scopes: approval.scopes,
        expires_in_days: Some(approval.expires_in_days),
    };
    let created =
        tokens::issue_token(tx, ctx, peppers, (approval.workspace, approval.approved_by), input).await?;
    tx.audit(
        ctx.audit_entry("device.deliver")
            .workspace(approval.workspace)
            .target(login.id)
            .detail(serde_json::json!({ "token": created.token.id, "by": approval.approved_by })),
    );
    Ok(RedeemOutcome::Token(Box::new(created)))
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        id::TokenId,
        testing::{at, id},
    };
    use secrecy::ExposeSecret as _;
    use serde_json::json;

    use super::*;
    use crate::{
        device::{DeviceLoginDecision, LIFETIME},
        testing::{
            FakeStore, agents::membership, aru, bek, device_approval, device_login, later, peppers,
            stored_device_login, token, visitor, workspace,
        },
        tokens::MAX_TOKENS,
    };

    fn login() -> DeviceLogin {
        let decision = DeviceLoginDecision::Approved(device_approval(&aru()));
        DeviceLogin { decision, ..device_login(1, at(0)) }
    }

    fn store() -> FakeStore {
        FakeStore { device_logins: vec![stored_device_login(login(), "code")], ..FakeStore::default() }
    }

    async fn redeem(
        store: &mut FakeStore,
        ctx: &Context,
        fact: Option<&MembershipFact>,
    ) -> Result<RedeemOutcome, IdentityError> {
        redeem_device_login(store, ctx, &peppers(), &login(), &device_approval(&aru()), fact).await
    }

    #[tokio::test]
    async fn one_of_many_polls_is_given_the_token() {
        let (mut store, ctx, fact) = (store(), visitor(), membership(&aru(), None));
        let first = redeem(&mut store, &ctx, Some(&fact)).await.unwrap();
        let second = redeem(&mut store, &ctx, Some(&fact)).await.unwrap();

        let RedeemOutcome::Token(created) = first else { panic!("{first:?}") };
        assert!(matches!(second, RedeemOutcome::Expired));
        let CreatedToken { token, secret } = *created;
        assert_eq!((token.workspace, token.user), (workspace(), aru().id));
        assert_eq!((token.name.as_str(), token.scopes.to_string().as_str()), ("qala on laptop", "read"));
        assert_eq!(token.expires_at, Some(at(0) + chrono::TimeDelta::days(30)));
        assert_eq!(store.tokens, [(token.clone(), peppers().digest(secret.expose_secret()))]);
        assert_eq!(store.device_logins[0].login.decision, DeviceLoginDecision::Delivered);
        store.assert_audited(&[
            ("token.create", &aru().id, &token.id),
            ("device.deliver", &"visitor", &login().id),
        ]);
        let delivered = &store.work.audit[1];
        assert_eq!(delivered.workspace, Some(workspace()));
        assert_eq!(delivered.detail, Some(json!({ "token": token.id, "by": aru().id })));
        store.assert_not_audited(&[secret.expose_secret()]);
    }

    #[tokio::test]
    async fn an_approver_who_is_no_longer_a_member_gives_no_token() {
        let elsewhere = MembershipFact { workspace: id(101), ..membership(&aru(), None) };
        for fact in
            [None, Some(membership(&aru(), Some(at(0)))), Some(membership(&bek(), None)), Some(elsewhere)]
        {
            let mut store = store();
            let outcome = redeem(&mut store, &visitor(), fact.as_ref()).await.unwrap();
            assert!(matches!(outcome, RedeemOutcome::Denied));
            assert!(store.tokens.is_empty());
            assert_eq!(store.device_logins[0].login.decision, DeviceLoginDecision::Delivered);
            store.assert_audited(&[("device.lapse", &"visitor", &login().id)]);
            assert_eq!(store.work.audit[0].workspace, Some(workspace()));
        }
    }

    #[tokio::test]
    async fn access_that_ends_later_is_enough() {
        let fact = membership(&aru(), Some(at(1)));
        let outcome = redeem(&mut store(), &visitor(), Some(&fact)).await.unwrap();
        assert!(matches!(outcome, RedeemOutcome::Token(_)));
    }

    #[tokio::test]
    async fn a_login_that_expired_or_was_denied_since_gives_no_token() {
        let (mut denied, mut expired) = (store(), store());
        denied.device_logins[0].login.decision = DeviceLoginDecision::Denied;
        for (store, ctx) in [(&mut denied, visitor()), (&mut expired, later(&visitor(), LIFETIME))] {
            let outcome = redeem(store, &ctx, Some(&membership(&aru(), None))).await.unwrap();
            assert!(matches!(outcome, RedeemOutcome::Expired));
            assert!(store.tokens.is_empty() && store.work.audit.is_empty());
        }
    }

    #[tokio::test]
    async fn a_person_with_too_many_tokens_gets_no_other() {
        let mut store = store();
        let tokens = (0..MAX_TOKENS).map(|number| token(number.into(), &aru()));
        store.tokens = tokens.map(|token| (token, peppers().digest("secret"))).collect();
        let refused = redeem(&mut store, &visitor(), Some(&membership(&aru(), None))).await;
        assert!(matches!(refused, Err(IdentityError::TooManyTokens)));
        let last: TokenId = id(99);
        assert_eq!(store.tokens.last().map(|(token, _)| token.id), Some(last));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let failed = redeem(&mut FakeStore::unavailable(), &visitor(), None).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
