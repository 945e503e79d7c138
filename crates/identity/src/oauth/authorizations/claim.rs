//! Claiming an authorization: the first person who opens it may decide it.

use kernel::{
    Context,
    id::{AuthorizationId, UserId},
};

use super::{Authorization, AuthorizationStage};
use crate::oauth::{ConsentError, OAuthTx};

/// Claims an authorization for a person, unless they have claimed it before, and returns it. Its row stays locked until
/// the transaction ends.
///
/// # Errors
/// [`ConsentError::AuthorizationNotFound`] if it is unknown, expired or another person's;
/// [`ConsentError::AlreadyDecided`] if this person has decided it; [`ConsentError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn claim_authorization(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    user: UserId,
    id: AuthorizationId,
) -> Result<Authorization, ConsentError> {
    let found = tx.authorization(id).await?.filter(|authorization| ctx.now < authorization.expires_at);
    let mut authorization = found.ok_or(ConsentError::AuthorizationNotFound)?;
    match authorization.stage.claimed_by() {
        Some(by) if by != user => return Err(ConsentError::AuthorizationNotFound),
        Some(_) if authorization.stage.is_decided() => return Err(ConsentError::AlreadyDecided),
        Some(_) => {}
        None => {
            authorization.stage = AuthorizationStage::Claimed { by: user };
            tx.set_authorization_stage(id, &authorization.stage, None).await?;
            tx.audit(ctx.audit_entry("authorization.open").target(id));
        }
    }
    Ok(authorization)
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };

    use super::*;
    use crate::{
        oauth::{
            AgentAccess,
            authorizations::{Consent, LIFETIME},
        },
        testing::{FakeStore, agents::pending_authorization, aru, bek, later, signed_in, visitor, workspace},
    };

    /// A store with one authorization that nobody has seen.
    async fn store() -> (FakeStore, AuthorizationId) {
        let mut store = FakeStore::default();
        let authorization = pending_authorization(&mut store, &visitor()).await;
        store.work.audit.clear();
        (store, authorization.id)
    }

    #[tokio::test]
    async fn the_first_person_who_opens_it_claims_it() {
        let (mut store, id) = store().await;
        let ctx = signed_in(&aru());
        for _ in 0..2 {
            let claimed = claim_authorization(&mut store, &ctx, aru().id, id).await.unwrap();
            assert_eq!(claimed.stage, AuthorizationStage::Claimed { by: aru().id });
            assert_eq!(store.authorizations, [(claimed, None)]);
        }
        let refused = claim_authorization(&mut store, &signed_in(&bek()), bek().id, id).await;

        assert!(matches!(refused, Err(ConsentError::AuthorizationNotFound)));
        assert_eq!(store.authorizations[0].0.stage.claimed_by(), Some(aru().id));
        store.assert_audited(&[("authorization.open", &aru().id, &id)]);
    }

    #[tokio::test]
    async fn an_authorization_that_is_unknown_or_too_old_is_not_found() {
        let (mut store, known) = store().await;
        let ctx = signed_in(&aru());
        for (ctx, id) in [(later(&ctx, LIFETIME), known), (ctx, id(404))] {
            let refused = claim_authorization(&mut store, &ctx, aru().id, id).await;
            assert!(matches!(refused, Err(ConsentError::AuthorizationNotFound)));
        }
        assert_eq!(store.authorizations[0].0.stage, AuthorizationStage::Pending);
        assert!(store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_decided_authorization_is_closed_to_its_person_and_hidden_from_others() {
        let consent = Consent { by: aru().id, workspace: workspace(), access: AgentAccess::Read };
        for stage in [
            AuthorizationStage::Denied { by: aru().id },
            AuthorizationStage::Allowed { consent, code_expires_at: at(0) },
            AuthorizationStage::Redeemed { consent, grant: id(7) },
        ] {
            let (mut store, id) = store().await;
            store.authorizations[0].0.stage = stage.clone();
            let own = claim_authorization(&mut store, &signed_in(&aru()), aru().id, id).await;
            assert!(matches!(own, Err(ConsentError::AlreadyDecided)), "{stage:?}");
            let foreign = claim_authorization(&mut store, &signed_in(&bek()), bek().id, id).await;
            assert!(matches!(foreign, Err(ConsentError::AuthorizationNotFound)), "{stage:?}");
            assert_eq!((&store.authorizations[0].0.stage, store.work.audit.len()), (&stage, 0));
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = claim_authorization(&mut store, &signed_in(&aru()), aru().id, id(1)).await;
        assert!(matches!(failed, Err(ConsentError::Store(StoreError::Unavailable(_)))));
    }
}
