//! The store that members need.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{UserId, WorkspaceId},
    page::PageRequest,
};

use super::{LeaveReason, MemberPosition, Membership, WorkspaceInfo};

/// Reads that need no transaction.
#[async_trait]
pub trait MembersRead: Send + Sync {
    /// Returns the members who have access at `now`, most authority first, then by time of joining; up to one more than
    /// the limit.
    async fn members(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        page: PageRequest<MemberPosition>,
    ) -> Result<Vec<Membership>, StoreError>;
}

/// Writes within a transaction, and the reads on which they depend.
#[async_trait]
pub trait MembersTx: UnitOfWork {
    /// Locks the members, invites and join domain of a workspace until the transaction ends: other transactions that
    /// lock them wait, and then see the changes of this one. `None` when there is no such workspace, or it is deleted.
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<WorkspaceInfo>, StoreError>;

    /// Returns the membership of a person, also when their access has ended.
    async fn membership_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError>;

    /// Counts the owners who have access at `now`.
    async fn count_owners(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError>;

    /// Inserts or replaces a membership.
    async fn upsert_membership(
        &mut self,
        workspace: WorkspaceId,
        membership: &Membership,
    ) -> Result<(), StoreError>;

    /// Deletes a membership.
    async fn delete_membership(&mut self, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError>;

    /// Returns the way in which a person last stopped being a member; `None` if they have been admitted since.
    async fn leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<LeaveReason>, StoreError>;

    /// Sets or clears the way in which a person stopped being a member, and the time.
    async fn set_leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        reason: Option<(LeaveReason, Timestamp)>,
    ) -> Result<(), StoreError>;
}
