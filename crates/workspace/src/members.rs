//! The members of a workspace and what they may change (specification part A, "People and roles").
//!
//! Every change locks the members of the workspace ([`MembersTx::lock_members`]) and then reads the actor's role again:
//! what was proved before the lock may have changed since.

mod admit;
mod change;
mod ports;
mod position;
mod remove;
mod transfer;

use kernel::{
    Context, Locale, Timestamp,
    authority::{Member, Role},
    id::{UserId, WorkspaceId},
};

pub use admit::{Admission, AdmittedMember, JoinChannel, admit};
pub use change::{MemberChange, change_member};
pub use ports::{MembersRead, MembersTx};
pub use position::MemberPosition;
pub use remove::remove_member;
pub use transfer::transfer_ownership;

use crate::WorkspaceError;

/// The membership of one person in one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The person.
    pub user: UserId,
    /// Their role.
    pub role: Role,
    /// Time of joining.
    pub joined_at: Timestamp,
    /// Time at which their access ends, exclusive; `None` for no end, which an owner always has.
    pub access_ends_at: Option<Timestamp>,
}

impl Membership {
    /// Returns true while the person has access.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.access_ends_at.is_none_or(|end| now < end)
    }
}

/// The way in which a person stopped being a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveReason {
    /// They left. They may come back by their own request or an invite, but not by auto-join.
    Left,
    /// An admin or owner removed them. Only an invite brings them back.
    Removed,
}

/// The attributes of a workspace that use cases about members need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceInfo {
    /// The display name.
    pub name: String,
    /// The default language of e-mails.
    pub locale: Locale,
}

/// Locks the members of the workspace and reads the actor's membership again.
pub(crate) async fn lock_as_member(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    member: &Member,
) -> Result<(WorkspaceInfo, Membership), WorkspaceError> {
    let workspace_info =
        tx.lock_members(member.workspace()).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let actor = find_active_membership(tx, ctx, member.workspace(), member.user()).await?;
    Ok((workspace_info, actor.ok_or(WorkspaceError::WorkspaceNotFound)?))
}

/// Returns the membership of a person who has access.
async fn find_active_membership(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<Option<Membership>, WorkspaceError> {
    Ok(tx.membership_of(workspace, user).await?.filter(|found| found.is_active(ctx.now)))
}

/// Does what [`lock_as_member`] does, and checks that the actor is still an admin or owner.
pub(crate) async fn lock_as_admin(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    member: &Member,
) -> Result<(WorkspaceInfo, Membership), WorkspaceError> {
    let (workspace_info, actor) = lock_as_member(tx, ctx, member).await?;
    if actor.role.at_least(Role::Admin) {
        Ok((workspace_info, actor))
    } else {
        Err(WorkspaceError::AdminOnly)
    }
}

/// Checks that only an owner changes an owner or makes one; `touched` are the roles before and after the change.
fn check_may_change_owners(actor: Role, touched: &[Role]) -> Result<(), WorkspaceError> {
    if actor != Role::Owner && touched.contains(&Role::Owner) {
        return Err(WorkspaceError::OwnerOnly);
    }
    Ok(())
}

/// Checks that the workspace has another owner.
async fn check_not_last_owner(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    workspace: WorkspaceId,
) -> Result<(), WorkspaceError> {
    if tx.count_owners(workspace, ctx.now).await? > 1 { Ok(()) } else { Err(WorkspaceError::LastOwner) }
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::at};

    use super::*;
    use crate::testing::{FakeTx, admin, as_admin, owner, request_of};

    #[test]
    fn access_ends_exactly_at_its_end() {
        let ending = |access_ends_at| Membership {
            user: owner(),
            role: Role::Member,
            joined_at: at(0),
            access_ends_at,
        };
        assert!(ending(None).is_active(at(5)));
        assert!(ending(Some(at(6))).is_active(at(5)));
        assert!(!ending(Some(at(5))).is_active(at(5)));
    }

    #[test]
    fn only_owners_change_owners_and_make_them() {
        for role in [Role::Admin, Role::Builder, Role::Member, Role::Viewer] {
            assert!(check_may_change_owners(role, &[Role::Viewer, Role::Admin]).is_ok());
            assert!(check_may_change_owners(role, &[Role::Member, Role::Owner]).is_err());
        }
        assert!(check_may_change_owners(Role::Owner, &[Role::Owner]).is_ok());
    }

    #[tokio::test]
    async fn a_role_that_changed_before_the_lock_counts_as_it_is_now() {
        let ctx = request_of(admin());
        let mut tx = FakeTx::acme();
        let (info, membership) = lock_as_admin(&mut tx, &ctx, &as_admin(&ctx)).await.unwrap();
        assert_eq!((&*info.name, membership.role), ("Acme", Role::Admin));

        let mut tx = FakeTx::acme();
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Builder));
        let refused = lock_as_admin(&mut tx, &ctx, &as_admin(&ctx)).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
    }

    #[tokio::test]
    async fn a_caller_who_lost_access_before_the_lock_finds_no_workspace() {
        let ctx = request_of(admin());
        let removed = |tx: &mut FakeTx| tx.memberships.clear();
        let ended = |tx: &mut FakeTx| tx.edit(admin(), |membership| membership.access_ends_at = Some(at(0)));
        let deleted = |tx: &mut FakeTx| tx.workspaces.clear();
        for change in [removed, ended, deleted] {
            let mut tx = FakeTx::acme();
            tx.while_waiting(change);
            let refused = lock_as_admin(&mut tx, &ctx, &as_admin(&ctx)).await;
            assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        }
    }

    #[tokio::test]
    async fn a_store_that_is_unavailable_is_reported_as_such() {
        let ctx = request_of(admin());
        let mut tx = FakeTx::acme();
        tx.is_unavailable = true;
        let failed = lock_as_admin(&mut tx, &ctx, &as_admin(&ctx)).await;
        assert!(matches!(failed, Err(WorkspaceError::Store(StoreError::Unavailable(_)))), "{failed:?}");
    }
}
