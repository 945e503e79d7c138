//! Leaving a workspace, and removing a member.

use kernel::{
    Context,
    authority::{Member, Role},
    id::UserId,
};

use super::{
    LeaveReason, MembersTx, check_may_change_owners, check_not_last_owner, find_active_membership,
    lock_as_member,
};
use crate::WorkspaceError;

/// Removes a member. Anyone may remove themselves, admins may remove everyone but owners, owners may remove everyone.
/// The caller must end what the person holds in the workspace, such as tokens, in the same transaction.
///
/// # Errors
/// * [`WorkspaceError::WorkspaceNotFound`] when the caller is no longer a member
/// * [`WorkspaceError::AdminOnly`] when neither the person nor an admin asks
/// * [`WorkspaceError::MemberNotFound`] when the person has no access
/// * [`WorkspaceError::OwnerOnly`] when an admin removes an owner
/// * [`WorkspaceError::LastOwner`] when the workspace would be left without an owner
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn remove_member(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    member: &Member,
    user: UserId,
) -> Result<(), WorkspaceError> {
    let (_, actor) = lock_as_member(tx, ctx, member).await?;
    let workspace = member.workspace();
    let is_leaving = user == actor.user;
    if !is_leaving && !actor.role.at_least(Role::Admin) {
        return Err(WorkspaceError::AdminOnly);
    }
    let found =
        find_active_membership(tx, ctx, workspace, user).await?.ok_or(WorkspaceError::MemberNotFound)?;
    check_may_change_owners(actor.role, &[found.role])?;
    if found.role == Role::Owner {
        check_not_last_owner(tx, ctx, workspace).await?;
    }
    let (action, reason) = if is_leaving {
        ("member.leave", LeaveReason::Left)
    } else {
        ("member.remove", LeaveReason::Removed)
    };
    tx.delete_membership(workspace, user).await?;
    tx.set_leave_reason(workspace, user, Some((reason, ctx.now))).await?;
    let detail = serde_json::json!({ "role": found.role });
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(user).detail(detail));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeTx, acme, admin, as_member, builder, owner, request_of, stranger, viewer};

    async fn remove(tx: &mut FakeTx, actor: UserId, user: UserId) -> Result<(), WorkspaceError> {
        let ctx = request_of(actor);
        remove_member(tx, &ctx, &as_member(&ctx), user).await
    }

    #[tokio::test]
    async fn anyone_leaves_and_an_admin_removes_and_each_is_audited_and_remembered() {
        for (actor, user, role, action, reason) in [
            (viewer(), viewer(), "viewer", "member.leave", LeaveReason::Left),
            (admin(), admin(), "admin", "member.leave", LeaveReason::Left),
            (admin(), viewer(), "viewer", "member.remove", LeaveReason::Removed),
            (owner(), admin(), "admin", "member.remove", LeaveReason::Removed),
        ] {
            let mut tx = FakeTx::acme();
            remove(&mut tx, actor, user).await.unwrap();
            assert_eq!(tx.membership(user), None);
            assert_eq!(tx.leave_reasons.get(&(acme(), user)), Some(&(reason, at(0))));
            assert_eq!(tx.audited(), [(action, user.to_string(), json!({ "role": role }))]);
        }
    }

    #[tokio::test]
    async fn nobody_below_admin_removes_others_and_no_admin_an_owner() {
        let mut tx = FakeTx::acme();
        let refused = remove(&mut tx, builder(), viewer()).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        // Below an admin, who is a member and who is not looks the same.
        let refused = remove(&mut tx, builder(), stranger()).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        let refused = remove(&mut tx, admin(), owner()).await;
        assert!(matches!(refused, Err(WorkspaceError::OwnerOnly)), "{refused:?}");
        assert_eq!(tx.memberships.len(), 4);
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn removing_twice_finds_no_member_the_second_time() {
        let mut tx = FakeTx::acme();
        remove(&mut tx, admin(), viewer()).await.unwrap();
        let refused = remove(&mut tx, admin(), viewer()).await;
        assert!(matches!(refused, Err(WorkspaceError::MemberNotFound)), "{refused:?}");
        assert_eq!(tx.work.audited_actions(), ["member.remove"]);

        remove(&mut tx, builder(), builder()).await.unwrap();
        let refused = remove(&mut tx, builder(), builder()).await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
    }

    #[tokio::test]
    async fn the_last_owner_stays_also_when_two_leave_at_once() {
        let mut tx = FakeTx::acme();
        let refused = remove(&mut tx, owner(), owner()).await;
        assert!(matches!(refused, Err(WorkspaceError::LastOwner)), "{refused:?}");

        tx.edit(admin(), |membership| membership.role = Role::Owner);
        tx.while_waiting(|tx| tx.delete_member(admin()));
        let refused = remove(&mut tx, owner(), owner()).await;
        assert!(matches!(refused, Err(WorkspaceError::LastOwner)), "{refused:?}");
        tx.assert_nothing_recorded();
        assert_eq!(tx.role(owner()), Some(Role::Owner));
    }

    #[tokio::test]
    async fn an_owner_whose_access_has_ended_does_not_count() {
        let mut tx = FakeTx::acme();
        tx.edit(admin(), |membership| {
            membership.role = Role::Owner;
            membership.access_ends_at = Some(at(0));
        });
        let refused = remove(&mut tx, owner(), owner()).await;
        assert!(matches!(refused, Err(WorkspaceError::LastOwner)), "{refused:?}");
    }
}
