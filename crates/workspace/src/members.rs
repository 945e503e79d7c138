//! Who is in a workspace, and what may become of it (specification part A, "People and roles").
//!
//! Every change begins by holding the workspace's people still ([`MembersTx::lock_members`]) and reads the actor's
//! role again: what was proved before the lock may have moved meanwhile.

mod admit;
mod change;
mod ports;
mod remove;
mod transfer;

use kernel::{
    Context, Locale, Timestamp,
    authority::{Member, Role},
    id::{UserId, WorkspaceId},
};

pub use admit::{Admission, Admitted, Door, admit};
pub use change::{MemberChange, change_member};
pub use ports::{MembersRead, MembersTx};
pub use remove::remove_member;
pub use transfer::transfer_ownership;

use crate::WorkspaceError;

/// One person's place in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The person.
    pub user: UserId,
    /// Their role.
    pub role: Role,
    /// Since when.
    pub joined_at: Timestamp,
    /// When their access ends by itself; never an owner's.
    pub access_ends_at: Option<Timestamp>,
}

impl Membership {
    /// Whether it still is one.
    #[must_use]
    pub fn is_current(&self, now: Timestamp) -> bool {
        self.access_ends_at.is_none_or(|end| now < end)
    }
}

/// How somebody went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// On their own. They may come back by themselves, and are not brought back unasked.
    Left,
    /// An admin removed them. Only an invite brings them back.
    Removed,
}

/// What people's use cases need to know of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Its name.
    pub name: String,
    /// The language of its mails.
    pub locale: Locale,
}

/// Holds the workspace's people still and reads the actor's place again.
async fn acting<T: MembersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    member: &Member,
) -> Result<(Home, Membership), WorkspaceError> {
    let home = tx.lock_members(member.workspace()).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let actor = current(tx, ctx, member.workspace(), member.user()).await?;
    Ok((home, actor.ok_or(WorkspaceError::WorkspaceNotFound)?))
}

/// Someone's place, unless their access has ended.
async fn current<T: MembersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<Option<Membership>, WorkspaceError> {
    Ok(tx.membership_of(workspace, user).await?.filter(|found| found.is_current(ctx.now)))
}

/// As [`acting`], for what only admins and owners do.
pub(crate) async fn acting_admin<T: MembersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    member: &Member,
) -> Result<(Home, Membership), WorkspaceError> {
    let (home, actor) = acting(tx, ctx, member).await?;
    if actor.role.at_least(Role::Admin) { Ok((home, actor)) } else { Err(WorkspaceError::AdminOnly) }
}

/// Whoever is no owner leaves owners alone, and makes none.
fn check_owners_business(actor: Role, touched: &[Role]) -> Result<(), WorkspaceError> {
    if actor != Role::Owner && touched.contains(&Role::Owner) {
        return Err(WorkspaceError::OwnerOnly);
    }
    Ok(())
}

/// A workspace is never left without an owner.
async fn check_not_last_owner<T: MembersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    workspace: WorkspaceId,
) -> Result<(), WorkspaceError> {
    if tx.count_owners(workspace, ctx.now).await? > 1 { Ok(()) } else { Err(WorkspaceError::LastOwner) }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn access_ends_at_its_very_moment() {
        let now = Timestamp::from_timestamp_millis(1_000).unwrap();
        let place = |access_ends_at| Membership {
            user: Id::from_uuid(Uuid::nil()),
            role: Role::Member,
            joined_at: Timestamp::UNIX_EPOCH,
            access_ends_at,
        };
        assert!(place(None).is_current(now));
        assert!(place(Some(now + chrono::TimeDelta::milliseconds(1))).is_current(now));
        assert!(!place(Some(now)).is_current(now));
    }

    #[test]
    fn only_owners_touch_owners_and_make_them() {
        for role in [Role::Admin, Role::Builder, Role::Member, Role::Viewer] {
            assert!(check_owners_business(role, &[Role::Viewer, Role::Admin]).is_ok());
            assert!(check_owners_business(role, &[Role::Member, Role::Owner]).is_err());
        }
        assert!(check_owners_business(Role::Owner, &[Role::Owner]).is_ok());
    }
}
