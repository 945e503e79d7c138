//! Admitting a person to an existing workspace, with the same rules for every channel.

use kernel::{
    Actor, Context, Timestamp,
    authority::Role,
    id::{UserId, WorkspaceId},
};

use super::{LeaveReason, Membership};
use crate::{WorkspaceError, invites::InvitesTx};

/// The way by which a person joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinChannel {
    /// They accepted an invite.
    Invite,
    /// Their address is at the join domain, and they asked to join.
    Domain,
    /// Their address is at the join domain, and they signed in.
    AutoJoin,
}

kernel::names! {
    JoinChannel {
        Invite = "invite",
        Domain = "domain",
        AutoJoin = "auto_join",
    }
}

/// The person to admit, and their new role.
#[derive(Debug, Clone)]
pub struct Admission<'a> {
    /// The workspace to join.
    pub workspace: WorkspaceId,
    /// The person.
    pub user: UserId,
    /// Their verified e-mail address, normalized.
    pub email: &'a str,
    /// The role they get.
    pub role: Role,
    /// Time at which their access ends; `None` for no end.
    pub access_ends_at: Option<Timestamp>,
    /// The way by which they join.
    pub channel: JoinChannel,
}

/// The outcome of an admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedMember {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The person.
    pub user: UserId,
    /// True if they were not a member before. The caller must then end what is left from an earlier membership, such as
    /// tokens.
    pub is_new: bool,
}

/// Admits a person. A member keeps their role and end of access, unless the admission is to a higher role, which brings
/// its own end of access.
///
/// A person who was removed, or whose access has ended, comes back only by an invite; one who left does not come back
/// by auto-join. Pending invites for the address are revoked, since an old link must not bring the person back later.
///
/// The caller must hold the lock on the members.
///
/// # Errors
/// [`WorkspaceError::WorkspaceNotFound`] when the channel is closed to this person; a failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn admit(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    admission: &Admission<'_>,
) -> Result<AdmittedMember, WorkspaceError> {
    let Admission { workspace, user, email, role, access_ends_at, channel } = *admission;
    let before = tx.membership_of(workspace, user).await?;
    let membership = Membership { user, role, joined_at: ctx.now, access_ends_at };
    let (membership, is_new) = match before {
        Some(known) if known.is_active(ctx.now) => {
            if known.role.at_least(role) {
                return Ok(AdmittedMember { workspace, user, is_new: false });
            }
            (Membership { joined_at: known.joined_at, ..membership }, false)
        }
        ended => {
            let leave_reason = tx.leave_reason(workspace, user).await?;
            let may_join = match channel {
                JoinChannel::Invite => true,
                JoinChannel::Domain => ended.is_none() && leave_reason != Some(LeaveReason::Removed),
                JoinChannel::AutoJoin => ended.is_none() && leave_reason.is_none(),
            };
            if !may_join {
                return Err(WorkspaceError::WorkspaceNotFound);
            }
            (membership, true)
        }
    };
    tx.upsert_membership(workspace, &membership).await?;
    tx.set_leave_reason(workspace, user, None).await?;
    tx.revoke_pending(workspace, email, ctx.now).await?;
    let ends = access_ends_at.as_ref().map(kernel::rfc3339::to_rfc3339);
    let detail = serde_json::json!({ "role": role, "by": channel.as_str(), "accessEndsAt": ends });
    let entry = ctx.audit_entry("member.join").workspace(workspace).target(user).detail(detail);
    // During sign-in the caller is still anonymous.
    tx.audit(entry.actor(Actor::Person(user)));
    Ok(AdmittedMember { workspace, user, is_new })
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::json;

    use super::*;
    use crate::{
        invites::InviteState,
        members::MembersTx as _,
        testing::{FakeTx, acme, address_of, builder, request_of, stranger, viewer},
    };

    const CHANNELS: [JoinChannel; 3] = [JoinChannel::Invite, JoinChannel::Domain, JoinChannel::AutoJoin];

    async fn admit_to(
        tx: &mut FakeTx,
        user: UserId,
        role: Role,
        channel: JoinChannel,
    ) -> Result<AdmittedMember, WorkspaceError> {
        tx.lock_members(acme()).await?;
        let email = address_of(user);
        let admission =
            Admission { workspace: acme(), user, email: &email, role, access_ends_at: Some(at(9)), channel };
        admit(tx, &request_of(user), &admission).await
    }

    #[tokio::test]
    async fn a_stranger_comes_in_by_every_channel_and_that_is_audited() {
        for (channel, name) in CHANNELS.into_iter().zip(["invite", "domain", "auto_join"]) {
            let mut tx = FakeTx::acme();
            let admitted = admit_to(&mut tx, stranger(), Role::Member, channel).await.unwrap();
            assert_eq!(admitted, AdmittedMember { workspace: acme(), user: stranger(), is_new: true });
            let expected = Membership {
                user: stranger(),
                role: Role::Member,
                joined_at: at(0),
                access_ends_at: Some(at(9)),
            };
            assert_eq!(tx.membership(stranger()), Some(&expected));
            let detail =
                json!({ "role": "member", "by": name, "accessEndsAt": kernel::rfc3339::to_rfc3339(&at(9)) });
            assert_eq!(tx.audited(), [("member.join", stranger().to_string(), detail)]);
        }
    }

    #[tokio::test]
    async fn the_person_is_the_actor_even_before_they_are_signed_in() {
        let mut tx = FakeTx::acme();
        tx.lock_members(acme()).await.unwrap();
        let ctx = kernel::testing::context(kernel::Caller::Anonymous, at(0));
        let admission = Admission {
            workspace: acme(),
            user: stranger(),
            email: "p5@acme.example",
            role: Role::Member,
            access_ends_at: None,
            channel: JoinChannel::AutoJoin,
        };
        admit(&mut tx, &ctx, &admission).await.unwrap();
        assert_eq!(tx.work.audit[0].actor, kernel::Actor::Person(stranger()));
    }

    #[tokio::test]
    async fn a_member_keeps_a_role_that_is_as_high() {
        for role in [Role::Builder, Role::Viewer] {
            let mut tx = FakeTx::acme();
            let before = tx.membership(builder()).cloned();
            let admitted = admit_to(&mut tx, builder(), role, JoinChannel::Invite).await.unwrap();
            assert!(!admitted.is_new);
            assert_eq!(tx.membership(builder()).cloned(), before);
            tx.assert_nothing_recorded();
        }
    }

    #[tokio::test]
    async fn a_higher_role_brings_its_own_end_of_access_and_keeps_the_joining_time() {
        let mut tx = FakeTx::acme();
        let admitted = admit_to(&mut tx, viewer(), Role::Admin, JoinChannel::Invite).await.unwrap();
        assert!(!admitted.is_new);
        let expected = Membership {
            user: viewer(),
            role: Role::Admin,
            joined_at: at(-1_000),
            access_ends_at: Some(at(9)),
        };
        assert_eq!(tx.membership(viewer()), Some(&expected));
        assert_eq!(tx.work.audited_actions(), ["member.join"]);
    }

    #[tokio::test]
    async fn whoever_was_a_member_before_comes_back_only_by_the_channels_that_allow_it() {
        for (reason, allowed) in
            [(LeaveReason::Left, [true, true, false]), (LeaveReason::Removed, [true, false, false])]
        {
            for (channel, is_allowed) in CHANNELS.into_iter().zip(allowed) {
                let mut tx = FakeTx::acme();
                tx.leave_reasons.insert((acme(), stranger()), (reason, at(-5)));
                let outcome = admit_to(&mut tx, stranger(), Role::Member, channel).await;
                if is_allowed {
                    assert!(outcome.unwrap().is_new);
                    assert!(tx.leave_reasons.is_empty(), "the reason is forgotten");
                } else {
                    assert!(matches!(outcome, Err(WorkspaceError::WorkspaceNotFound)), "{outcome:?}");
                    assert_eq!(tx.membership(stranger()), None);
                    tx.assert_nothing_recorded();
                }
            }
        }
    }

    #[tokio::test]
    async fn whoever_lost_access_by_time_comes_back_only_by_invite_and_as_new() {
        for (channel, is_allowed) in CHANNELS.into_iter().zip([true, false, false]) {
            let mut tx = FakeTx::acme();
            tx.edit(builder(), |membership| membership.access_ends_at = Some(at(0)));
            let outcome = admit_to(&mut tx, builder(), Role::Member, channel).await;
            if is_allowed {
                assert!(outcome.unwrap().is_new);
                let membership = tx.membership(builder()).unwrap();
                assert_eq!((membership.role, membership.joined_at), (Role::Member, at(0)));
            } else {
                assert!(matches!(outcome, Err(WorkspaceError::WorkspaceNotFound)), "{outcome:?}");
                tx.assert_nothing_recorded();
            }
        }
    }

    #[tokio::test]
    async fn pending_invites_of_the_address_are_revoked() {
        let mut tx = FakeTx::acme();
        let (own, _) = tx.add_invite(10, &address_of(stranger()));
        let (other, _) = tx.add_invite(11, "bek@example.com");
        admit_to(&mut tx, stranger(), Role::Member, JoinChannel::Domain).await.unwrap();
        assert_eq!(tx.invite_state(own.id), InviteState::Revoked { at: at(0) });
        assert_eq!(tx.invite_state(other.id), InviteState::Pending);
    }
}
