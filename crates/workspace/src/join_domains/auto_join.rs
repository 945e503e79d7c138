//! Joining by the domain of one's address, on sign-in.

use kernel::{Context, id::UserId};

use super::{Domain, JoinDomain, JoinDomainsTx};
use crate::{
    WorkspaceError,
    members::{AdmittedMember, JoinChannel, admit},
};

/// Admits a person who has just signed in with a verified address, if the workspace of its domain has auto-join on.
/// Returns `None` when the person does not join: also when they are a member, or have left or been removed.
///
/// Call this in the transaction that opens the session.
///
/// # Errors
/// A failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn auto_join(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    user: UserId,
    email: &str,
) -> Result<Option<AdmittedMember>, WorkspaceError> {
    let Some(domain) = Domain::from_email(email) else { return Ok(None) };
    let allows_auto_join =
        |known: &JoinDomain| known.is_verified() && known.auto_join && known.domain == domain;
    let Some(found) = tx.verified_join_domain(&domain).await?.filter(allows_auto_join) else {
        return Ok(None);
    };
    if tx.lock_members(found.workspace).await?.is_none() {
        return Ok(None);
    }
    // Read again under the lock: an admin may have changed it since.
    let Some(found) = tx.join_domain_of(found.workspace).await?.filter(allows_auto_join) else {
        return Ok(None);
    };
    match admit(tx, ctx, &found.admission(user, email, JoinChannel::AutoJoin)).await {
        Ok(admitted) => Ok(Some(admitted).filter(|admitted| admitted.is_new)),
        Err(WorkspaceError::WorkspaceNotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Caller, StoreError, authority::Role, testing::at};
    use serde_json::json;

    use super::*;
    use crate::{
        join_domains::DomainState,
        members::LeaveReason,
        testing::{FakeTx, VERIFIED, acme, builder, stranger},
    };

    async fn sign_in(
        tx: &mut FakeTx,
        user: UserId,
        email: &str,
    ) -> Result<Option<AdmittedMember>, WorkspaceError> {
        auto_join(tx, &kernel::testing::context(Caller::Anonymous, at(0)), user, email).await
    }

    #[tokio::test]
    async fn whoever_signs_in_with_an_address_of_the_domain_joins_and_is_the_actor() {
        let mut tx = FakeTx::acme();
        tx.add_join_domain(VERIFIED);
        let admitted = sign_in(&mut tx, stranger(), "gul@acme.example").await.unwrap();
        assert_eq!(admitted, Some(AdmittedMember { workspace: acme(), user: stranger(), is_new: true }));
        assert_eq!(tx.role(stranger()), Some(Role::Member));
        let detail = json!({ "role": "member", "by": "auto_join", "accessEndsAt": null });
        assert_eq!(tx.audited(), [("member.join", stranger().to_string(), detail)]);
        assert_eq!(tx.work.audit[0].actor, kernel::Actor::Person(stranger()));

        let again = sign_in(&mut tx, stranger(), "gul@acme.example").await.unwrap();
        assert_eq!((again, tx.audited().len()), (None, 1));
    }

    #[tokio::test]
    async fn nobody_joins_without_a_verified_domain_that_wants_it() {
        let mut tx = FakeTx::acme();
        for email in ["gul@acme.example", "gul@gmail.com", "gul"] {
            assert_eq!(sign_in(&mut tx, stranger(), email).await.unwrap(), None);
        }
        tx.add_join_domain(DomainState::Pending);
        assert_eq!(sign_in(&mut tx, stranger(), "gul@acme.example").await.unwrap(), None);
        tx.add_join_domain(VERIFIED);
        assert_eq!(sign_in(&mut tx, stranger(), "gul@eng.acme.example").await.unwrap(), None);
        tx.join_domains.get_mut(&acme()).unwrap().auto_join = false;
        assert_eq!(sign_in(&mut tx, stranger(), "gul@acme.example").await.unwrap(), None);
        assert_eq!(tx.membership(stranger()), None);
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn what_changed_before_the_lock_counts() {
        let off = |tx: &mut FakeTx| tx.join_domains.get_mut(&acme()).unwrap().auto_join = false;
        let lapsed = |tx: &mut FakeTx| drop(tx.add_join_domain(DomainState::Pending));
        let deleted = |tx: &mut FakeTx| tx.join_domains.clear();
        for change in [off, lapsed, deleted] {
            let mut tx = FakeTx::acme();
            tx.add_join_domain(VERIFIED);
            tx.while_waiting(change);
            assert_eq!(sign_in(&mut tx, stranger(), "gul@acme.example").await.unwrap(), None);
            tx.assert_nothing_recorded();
        }
    }

    #[tokio::test]
    async fn whoever_left_was_removed_or_is_a_member_is_left_alone() {
        for reason in [LeaveReason::Left, LeaveReason::Removed] {
            let mut tx = FakeTx::acme();
            tx.add_join_domain(VERIFIED);
            tx.leave_reasons.insert((acme(), stranger()), (reason, at(-1)));
            assert_eq!(sign_in(&mut tx, stranger(), "gul@acme.example").await.unwrap(), None);
            assert_eq!(tx.membership(stranger()), None);
            tx.assert_nothing_recorded();
        }
        let mut tx = FakeTx::acme();
        tx.add_join_domain(VERIFIED);
        assert_eq!(sign_in(&mut tx, builder(), "gul@acme.example").await.unwrap(), None);
        assert_eq!(tx.role(builder()), Some(Role::Builder));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_no_silent_refusal() {
        let mut tx = FakeTx::acme();
        tx.is_unavailable = true;
        tx.add_join_domain(VERIFIED);
        let failed = sign_in(&mut tx, stranger(), "gul@acme.example").await;
        assert!(matches!(failed, Err(WorkspaceError::Store(StoreError::Unavailable(_)))), "{failed:?}");
    }
}
