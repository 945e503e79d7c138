//! Joining by the domain of one's address, on request.

use kernel::{
    Context,
    id::{UserId, WorkspaceId},
};

use super::{Domain, JoinDomain, JoinDomainsTx};
use crate::{
    WorkspaceError,
    members::{AdmittedMember, JoinChannel, admit},
};

/// Admits a person whose verified address is at the workspace's verified domain. An address at a subdomain does not
/// count.
///
/// # Errors
/// [`WorkspaceError::WorkspaceNotFound`] when the address is not at the domain, the domain is not verified, the person
/// was removed before, or their access has ended; a failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn join_by_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    workspace: WorkspaceId,
    (user, email): (UserId, &str),
) -> Result<AdmittedMember, WorkspaceError> {
    tx.lock_members(workspace).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let domain = tx.join_domain_of(workspace).await?.filter(JoinDomain::is_verified);
    let domain = domain.filter(|known| Domain::from_email(email).as_ref() == Some(&known.domain));
    let domain = domain.ok_or(WorkspaceError::WorkspaceNotFound)?;
    admit(tx, ctx, &domain.admission(user, email, JoinChannel::Domain)).await
}

#[cfg(test)]
mod tests {
    use kernel::{authority::Role, testing::at};
    use serde_json::json;

    use super::*;
    use crate::{
        join_domains::DomainState,
        members::LeaveReason,
        testing::{FakeTx, VERIFIED, acme, builder, globex, request_of, stranger},
    };

    async fn join(tx: &mut FakeTx, user: UserId, email: &str) -> Result<AdmittedMember, WorkspaceError> {
        join_by_domain(tx, &request_of(user), acme(), (user, email)).await
    }

    #[tokio::test]
    async fn an_address_of_the_domain_joins_with_its_role_and_that_is_audited() {
        let mut tx = FakeTx::acme();
        tx.add_join_domain(VERIFIED);
        let admitted = join(&mut tx, stranger(), "gul@acme.example").await.unwrap();
        assert_eq!(admitted, AdmittedMember { workspace: acme(), user: stranger(), is_new: true });
        let membership = tx.membership(stranger()).unwrap();
        assert_eq!((membership.role, membership.access_ends_at), (Role::Member, None));
        let detail = json!({ "role": "member", "by": "domain", "accessEndsAt": null });
        assert_eq!(tx.audited(), [("member.join", stranger().to_string(), detail)]);
    }

    #[tokio::test]
    async fn joining_twice_changes_nothing_the_second_time() {
        let mut tx = FakeTx::acme();
        tx.add_join_domain(VERIFIED);
        let again = join(&mut tx, builder(), "gul@acme.example").await.unwrap();
        assert!(!again.is_new);
        assert_eq!(tx.role(builder()), Some(Role::Builder));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_address_below_beside_or_outside_the_domain_finds_no_workspace() {
        let mut tx = FakeTx::acme();
        tx.add_join_domain(VERIFIED);
        for email in ["a@eng.acme.example", "a@notacme.example", "a@gmail.com", "acme.example", ""] {
            let refused = join(&mut tx, stranger(), email).await;
            assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{email}: {refused:?}");
        }
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn a_workspace_without_a_verified_domain_admits_nobody() {
        let mut tx = FakeTx::acme();
        let refused = join(&mut tx, stranger(), "gul@acme.example").await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        tx.add_join_domain(DomainState::Pending);
        let refused = join(&mut tx, stranger(), "gul@acme.example").await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        tx.add_join_domain(VERIFIED);
        tx.while_waiting(|tx| tx.join_domains.clear());
        let refused = join(&mut tx, stranger(), "gul@acme.example").await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        let ctx = request_of(stranger());
        let refused = join_by_domain(&mut tx, &ctx, globex(), (stranger(), "gul@acme.example")).await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn whoever_left_joins_again_and_whoever_was_removed_does_not() {
        for (reason, is_allowed) in [(LeaveReason::Left, true), (LeaveReason::Removed, false)] {
            let mut tx = FakeTx::acme();
            tx.add_join_domain(VERIFIED);
            tx.leave_reasons.insert((acme(), stranger()), (reason, at(-1)));
            let outcome = join(&mut tx, stranger(), "gul@acme.example").await;
            assert_eq!(outcome.is_ok(), is_allowed, "{outcome:?}");
            assert_eq!(tx.membership(stranger()).is_some(), is_allowed);
        }
    }
}
