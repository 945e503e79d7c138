//! Accepting an invite.

use kernel::{Context, authority::Role, id::UserId, token::Peppers};

use super::{
    Invite, InviteState, InvitesTx,
    link::{check_acceptable, token_digests},
    revoke_all::audit_inviter_revocation,
};
use crate::{
    WorkspaceError,
    members::{Admission, AdmittedMember, JoinChannel, admit},
};

/// The outcome of accepting an invite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptInviteOutcome {
    /// The person is a member.
    Joined(AdmittedMember),
    /// The sender can no longer invite people, so the invite was revoked. The caller must commit the transaction.
    Withdrawn,
}

/// Admits the invited person, once, if the sender of the invite can still invite people. `email` is the verified,
/// normalized address of `user`.
///
/// # Errors
/// * [`WorkspaceError::InviteNotFound`] when the token is unknown, revoked or replaced by a newer link, or when the
///   invite is for another address and no longer pending
/// * [`WorkspaceError::WrongInviteEmail`] when the invite is pending for another address
/// * [`WorkspaceError::InviteExpired`] when the link, or the access it would give, has ended
/// * [`WorkspaceError::InviteAccepted`] when the person has accepted it before
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn accept_invite(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    peppers: &Peppers,
    (user, email): (UserId, &str),
    token: &str,
) -> Result<AcceptInviteOutcome, WorkspaceError> {
    let digests = token_digests(peppers, token)?;
    let found = tx.invite_by_digest(&digests).await?.ok_or(WorkspaceError::InviteNotFound)?;
    tx.lock_members(found.workspace).await?.ok_or(WorkspaceError::InviteNotFound)?;
    // Read again under the lock: it may have been accepted or revoked since.
    let invite = check_acceptable(tx.invite_by_digest(&digests).await?, ctx, email)?;
    // Demotion and removal revoke invites when they happen; the end of access by time does not.
    let inviter = tx.membership_of(invite.workspace, invite.invited_by).await?;
    if !inviter
        .is_some_and(|membership| membership.is_active(ctx.now) && membership.role.at_least(Role::Admin))
    {
        let revoked = Invite { state: InviteState::Revoked { at: ctx.now }, ..invite };
        tx.update_invite(&revoked, None).await?;
        audit_inviter_revocation(tx, ctx, revoked.workspace, revoked.id);
        return Ok(AcceptInviteOutcome::Withdrawn);
    }
    let accepted = Invite { state: InviteState::Accepted { by: user, at: ctx.now }, ..invite };
    tx.update_invite(&accepted, None).await?;
    tx.audit(ctx.audit_entry("invite.accept").workspace(accepted.workspace).target(accepted.id));
    let admission = Admission {
        workspace: accepted.workspace,
        user,
        email,
        role: accepted.role.role(),
        access_ends_at: accepted.access_ends_at,
        channel: JoinChannel::Invite,
    };
    admit(tx, ctx, &admission).await.map(AcceptInviteOutcome::Joined)
}

#[cfg(test)]
mod tests {
    use kernel::{id::WorkspaceId, testing::at};
    use serde_json::json;

    use super::*;
    use crate::testing::{
        DAY, FakeTx, acme, admin, builder, peppers, request_at, request_of, stranger, viewer,
    };

    const EMAIL: &str = "bek@example.com";

    async fn accept(
        tx: &mut FakeTx,
        user: UserId,
        email: &str,
        token: &str,
    ) -> Result<AcceptInviteOutcome, WorkspaceError> {
        accept_invite(tx, &request_of(user), &peppers(), (user, email), token).await
    }

    fn joined(workspace: WorkspaceId, user: UserId, is_new: bool) -> AcceptInviteOutcome {
        AcceptInviteOutcome::Joined(AdmittedMember { workspace, user, is_new })
    }

    #[tokio::test]
    async fn the_invited_person_joins_once_and_it_is_audited() {
        let mut tx = FakeTx::acme();
        let (invite, token) = tx.add_invite(10, EMAIL);
        tx.edit_invite(invite.id, |invite| invite.access_ends_at = Some(at(9)));
        let outcome = accept(&mut tx, stranger(), EMAIL, &token).await.unwrap();
        assert_eq!(outcome, joined(acme(), stranger(), true));
        assert_eq!(tx.invite_state(invite.id), InviteState::Accepted { by: stranger(), at: at(0) });
        let membership = tx.membership(stranger()).unwrap();
        assert_eq!((membership.role, membership.access_ends_at), (Role::Builder, Some(at(9))));
        let expected = [
            ("invite.accept", invite.id.to_string(), json!(null)),
            (
                "member.join",
                stranger().to_string(),
                json!({ "role": "builder", "by": "invite", "accessEndsAt": kernel::rfc3339::to_rfc3339(&at(9)) }),
            ),
        ];
        assert_eq!(tx.audited(), expected);
        assert!(!format!("{:?}", tx.work.audit).contains(&token));

        let refused = accept(&mut tx, stranger(), EMAIL, &token).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteAccepted)), "{refused:?}");
        assert_eq!(tx.audited().len(), 2);
    }

    #[tokio::test]
    async fn a_member_accepts_without_losing_a_higher_role() {
        let mut tx = FakeTx::acme();
        let (invite, token) = tx.add_invite(10, EMAIL);
        let outcome = accept(&mut tx, admin(), EMAIL, &token).await.unwrap();
        assert_eq!(outcome, joined(acme(), admin(), false));
        assert_eq!(tx.role(admin()), Some(Role::Admin));
        assert_eq!(tx.invite_state(invite.id), InviteState::Accepted { by: admin(), at: at(0) });
        assert_eq!(tx.work.audited_actions(), ["invite.accept"]);
    }

    #[tokio::test]
    async fn a_link_for_another_address_or_of_no_invite_admits_nobody() {
        let mut tx = FakeTx::acme();
        let (invite, token) = tx.add_invite(10, EMAIL);
        let (_, unknown) = FakeTx::acme().add_invite(11, EMAIL);
        let refused = accept(&mut tx, stranger(), "aru@example.com", &token).await;
        assert!(matches!(refused, Err(WorkspaceError::WrongInviteEmail)), "{refused:?}");
        for token in [&*unknown, "no token"] {
            let refused = accept(&mut tx, stranger(), EMAIL, token).await;
            assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");
        }
        assert_eq!(tx.invite_state(invite.id), InviteState::Pending);
        assert_eq!(tx.membership(stranger()), None);
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_invite_expires_and_so_does_the_access_it_gives() {
        let mut tx = FakeTx::acme();
        let (invite, token) = tx.add_invite(10, EMAIL);
        let late = request_at(stranger(), at(7 * DAY));
        let refused = accept_invite(&mut tx, &late, &peppers(), (stranger(), EMAIL), &token).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteExpired)), "{refused:?}");
        tx.edit_invite(invite.id, |invite| invite.access_ends_at = Some(at(0)));
        let refused = accept(&mut tx, stranger(), EMAIL, &token).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteExpired)), "{refused:?}");
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn what_happened_to_the_invite_before_the_lock_counts() {
        let mut tx = FakeTx::acme();
        let (invite, token) = tx.add_invite(10, EMAIL);
        let id = invite.id;
        tx.while_waiting(move |tx| {
            tx.edit_invite(id, |invite| invite.state = InviteState::Accepted { by: stranger(), at: at(0) });
        });
        let refused = accept(&mut tx, stranger(), EMAIL, &token).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteAccepted)), "{refused:?}");

        tx.edit_invite(id, |invite| invite.state = InviteState::Pending);
        tx.while_waiting(move |tx| {
            tx.edit_invite(id, |invite| invite.state = InviteState::Revoked { at: at(0) });
        });
        let refused = accept(&mut tx, stranger(), EMAIL, &token).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");

        tx.edit_invite(id, |invite| invite.state = InviteState::Pending);
        tx.while_waiting(|tx| tx.invites[0].1 = peppers().digest("the link that was sent since"));
        let refused = accept(&mut tx, stranger(), EMAIL, &token).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");
        assert_eq!(tx.membership(stranger()), None);
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_invite_into_a_workspace_that_is_gone_is_not_found() {
        let mut tx = FakeTx::acme();
        let (_, token) = tx.add_invite(10, EMAIL);
        tx.workspaces.clear();
        let refused = accept(&mut tx, stranger(), EMAIL, &token).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");
    }

    #[tokio::test]
    async fn an_invite_whose_sender_may_no_longer_invite_is_withdrawn() {
        let demoted = |tx: &mut FakeTx| tx.edit(admin(), |membership| membership.role = Role::Builder);
        let ended = |tx: &mut FakeTx| tx.edit(admin(), |membership| membership.access_ends_at = Some(at(0)));
        let gone = |tx: &mut FakeTx| tx.delete_member(admin());
        for change in [demoted, ended, gone] {
            let mut tx = FakeTx::acme();
            let (invite, token) = tx.add_invite(10, EMAIL);
            change(&mut tx);
            let outcome = accept(&mut tx, stranger(), EMAIL, &token).await.unwrap();
            assert_eq!(outcome, AcceptInviteOutcome::Withdrawn);
            assert_eq!(tx.invite_state(invite.id), InviteState::Revoked { at: at(0) });
            assert_eq!(tx.membership(stranger()), None);
            let expected = ("invite.revoke", invite.id.to_string(), json!({ "because": "inviter" }));
            assert_eq!(tx.audited(), [expected]);
        }
    }

    #[tokio::test]
    async fn an_invite_to_a_higher_role_raises_a_member() {
        let mut tx = FakeTx::acme();
        let (_, token) = tx.add_invite(10, EMAIL);
        accept(&mut tx, viewer(), EMAIL, &token).await.unwrap();
        assert_eq!((tx.role(viewer()), tx.role(builder())), (Some(Role::Builder), Some(Role::Builder)));
        assert_eq!(tx.work.audited_actions(), ["invite.accept", "member.join"]);
    }
}
