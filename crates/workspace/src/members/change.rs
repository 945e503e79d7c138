//! Changing the role of a member, or the end of their access.

use kernel::{
    Context, Timestamp,
    authority::{Admin, Role},
    id::UserId,
    rfc3339::to_rfc3339,
};

use super::{
    Membership, check_may_change_owners, check_not_last_owner, find_active_membership, lock_as_admin,
};
use crate::{
    InvalidInput, WorkspaceError,
    invites::{InvitesTx, revoke_invites_of},
};

/// The fields to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemberChange {
    /// The new role.
    pub role: Option<Role>,
    /// The new end of access; `Some(None)` removes it.
    pub access_ends_at: Option<Option<Timestamp>>,
}

/// Changes a member. The change applies from the member's next request on, also to their tokens. The pending invites of
/// a member who is no longer an admin are revoked.
///
/// # Errors
/// * [`WorkspaceError::AdminOnly`] and [`WorkspaceError::WorkspaceNotFound`] when the caller has lost the role or the
///   membership
/// * [`WorkspaceError::MemberNotFound`] when the person has no access
/// * [`WorkspaceError::OwnerOnly`] when an admin changes an owner or makes one
/// * [`WorkspaceError::InvalidInput`] when the end of access is not in the future
/// * [`WorkspaceError::OwnerAccessCannotExpire`] when an owner would have an end of access
/// * [`WorkspaceError::LastOwner`] when the workspace would be left without an owner
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn change_member(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    admin: &Admin,
    user: UserId,
    change: MemberChange,
) -> Result<Membership, WorkspaceError> {
    let (_, actor) = lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let before =
        find_active_membership(tx, ctx, workspace, user).await?.ok_or(WorkspaceError::MemberNotFound)?;
    let after = Membership {
        role: change.role.unwrap_or(before.role),
        access_ends_at: change.access_ends_at.unwrap_or(before.access_ends_at),
        ..before.clone()
    };
    check_may_change_owners(actor.role, &[before.role, after.role])?;
    if after.access_ends_at != before.access_ends_at && !after.is_active(ctx.now) {
        return Err(InvalidInput::AccessEnd.into());
    }
    if after.role == Role::Owner && after.access_ends_at.is_some() {
        return Err(WorkspaceError::OwnerAccessCannotExpire);
    }
    if before.role == Role::Owner && after.role != Role::Owner {
        check_not_last_owner(tx, ctx, workspace).await?;
    }
    if after != before {
        tx.upsert_membership(workspace, &after).await?;
        let [from, to] = [&before, &after].map(|member| {
            let ends = member.access_ends_at.as_ref().map(to_rfc3339);
            serde_json::json!({ "role": member.role, "accessEndsAt": ends })
        });
        let detail = serde_json::json!({ "from": from, "to": to });
        tx.audit(ctx.audit_entry("member.change").workspace(workspace).target(user).detail(detail));
        if before.role.at_least(Role::Admin) && !after.role.at_least(Role::Admin) {
            revoke_invites_of(tx, ctx, workspace, user).await?;
        }
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::json;

    use super::*;
    use crate::{
        invites::InviteState,
        testing::{FakeTx, admin, as_admin, builder, globex, owner, request_of, stranger, viewer},
    };

    async fn change(
        tx: &mut FakeTx,
        actor: UserId,
        user: UserId,
        change: MemberChange,
    ) -> Result<Membership, WorkspaceError> {
        let ctx = request_of(actor);
        change_member(tx, &ctx, &as_admin(&ctx), user, change).await
    }

    fn role(role: Role) -> MemberChange {
        MemberChange { role: Some(role), ..MemberChange::default() }
    }

    fn access_end(end: Option<Timestamp>) -> MemberChange {
        MemberChange { access_ends_at: Some(end), ..MemberChange::default() }
    }

    #[tokio::test]
    async fn role_and_end_of_access_change_and_the_change_is_audited() {
        let mut tx = FakeTx::acme();
        let both = MemberChange { role: Some(Role::Member), access_ends_at: Some(Some(at(9))) };
        let changed = change(&mut tx, admin(), builder(), both).await.unwrap();
        let expected = Membership {
            user: builder(),
            role: Role::Member,
            joined_at: at(-1_000),
            access_ends_at: Some(at(9)),
        };
        assert_eq!((tx.membership(builder()), &changed), (Some(&expected), &expected));
        let detail = json!({
            "from": { "role": "builder", "accessEndsAt": null },
            "to": { "role": "member", "accessEndsAt": to_rfc3339(&at(9)) },
        });
        assert_eq!(tx.audited(), [("member.change", builder().to_string(), detail)]);

        let lifted = change(&mut tx, admin(), builder(), access_end(None)).await.unwrap();
        assert_eq!((lifted.role, lifted.access_ends_at), (Role::Member, None));
    }

    #[tokio::test]
    async fn a_change_to_what_already_is_leaves_no_trace() {
        let mut tx = FakeTx::acme();
        for same in [MemberChange::default(), role(Role::Builder), access_end(None)] {
            let unchanged = change(&mut tx, admin(), builder(), same).await.unwrap();
            assert_eq!(unchanged.role, Role::Builder);
        }
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_admin_neither_changes_an_owner_nor_makes_one() {
        let mut tx = FakeTx::acme();
        for (user, wanted) in [(owner(), Role::Admin), (owner(), Role::Owner), (builder(), Role::Owner)] {
            let refused = change(&mut tx, admin(), user, role(wanted)).await;
            assert!(matches!(refused, Err(WorkspaceError::OwnerOnly)), "{refused:?}");
        }
        assert_eq!((tx.role(owner()), tx.role(builder())), (Some(Role::Owner), Some(Role::Builder)));
        tx.assert_nothing_recorded();

        change(&mut tx, owner(), builder(), role(Role::Owner)).await.unwrap();
        assert_eq!(tx.role(builder()), Some(Role::Owner));
    }

    #[tokio::test]
    async fn whoever_is_no_member_now_is_not_found() {
        let mut tx = FakeTx::acme();
        tx.add_globex();
        tx.edit(builder(), |membership| membership.access_ends_at = Some(at(0)));
        assert!(tx.memberships.contains_key(&(globex(), stranger())));
        for user in [stranger(), builder()] {
            let refused = change(&mut tx, owner(), user, role(Role::Viewer)).await;
            assert!(matches!(refused, Err(WorkspaceError::MemberNotFound)), "{refused:?}");
        }
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_end_of_access_lies_in_the_future_and_is_never_an_owners() {
        let mut tx = FakeTx::acme();
        for end in [at(0), at(-1)] {
            let refused = change(&mut tx, admin(), builder(), access_end(Some(end))).await;
            assert!(
                matches!(refused, Err(WorkspaceError::InvalidInput(InvalidInput::AccessEnd))),
                "{refused:?}"
            );
        }
        let refused = change(&mut tx, owner(), owner(), access_end(Some(at(1)))).await;
        assert!(matches!(refused, Err(WorkspaceError::OwnerAccessCannotExpire)), "{refused:?}");
        tx.edit(builder(), |membership| membership.access_ends_at = Some(at(9)));
        let refused = change(&mut tx, owner(), builder(), role(Role::Owner)).await;
        assert!(matches!(refused, Err(WorkspaceError::OwnerAccessCannotExpire)), "{refused:?}");
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn the_last_owner_stays_one_also_when_two_step_down_at_once() {
        let mut tx = FakeTx::acme();
        let refused = change(&mut tx, owner(), owner(), role(Role::Admin)).await;
        assert!(matches!(refused, Err(WorkspaceError::LastOwner)), "{refused:?}");

        tx.edit(viewer(), |membership| membership.role = Role::Owner);
        tx.while_waiting(|tx| tx.edit(viewer(), |membership| membership.role = Role::Admin));
        let refused = change(&mut tx, owner(), owner(), role(Role::Admin)).await;
        assert!(matches!(refused, Err(WorkspaceError::LastOwner)), "{refused:?}");
        tx.assert_nothing_recorded();

        tx.edit(viewer(), |membership| membership.role = Role::Owner);
        change(&mut tx, owner(), owner(), role(Role::Admin)).await.unwrap();
        assert_eq!(tx.role(owner()), Some(Role::Admin));
    }

    #[tokio::test]
    async fn an_admin_who_was_demoted_meanwhile_changes_nobody() {
        let mut tx = FakeTx::acme();
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Builder));
        let refused = change(&mut tx, admin(), viewer(), role(Role::Admin)).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        assert_eq!(tx.role(viewer()), Some(Role::Viewer));
    }

    #[tokio::test]
    async fn the_invites_of_an_admin_end_with_that_role() {
        let mut tx = FakeTx::acme();
        let (invite, _) = tx.add_invite(10, "bek@example.com");
        change(&mut tx, owner(), admin(), role(Role::Owner)).await.unwrap();
        change(&mut tx, owner(), admin(), role(Role::Admin)).await.unwrap();
        assert_eq!(tx.invite_state(invite.id), InviteState::Pending);
        change(&mut tx, owner(), admin(), role(Role::Builder)).await.unwrap();
        assert_eq!(tx.invite_state(invite.id), InviteState::Revoked { at: at(0) });
        let revoked = ("invite.revoke", invite.id.to_string(), json!({ "because": "inviter" }));
        assert_eq!(tx.audited().last(), Some(&revoked));
        assert_eq!(tx.audited().len(), 4);
    }
}
