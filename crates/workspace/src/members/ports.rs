//! What members need from a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{UserId, WorkspaceId},
};

use super::{LeaveReason, Membership, WorkspaceInfo};

/// Reads that need no transaction.
#[async_trait]
pub trait MembersRead: Send + Sync {
    /// Who has access at `now`: most authority first, among equals who came first.
    async fn members(&self, workspace: WorkspaceId, now: Timestamp) -> Result<Vec<Membership>, StoreError>;
}

/// Writes, and the reads they decide by.
#[async_trait]
pub trait MembersTx: UnitOfWork {
    /// Holds a workspace's members, invites and join domain still until the transaction ends: whoever else wants to
    /// change them waits, and then sees what this one did. None when there is no such workspace.
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<WorkspaceInfo>, StoreError>;

    /// One person's place, also when their access has ended.
    async fn membership_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError>;

    /// How many owners have access at `now`.
    async fn count_owners(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError>;

    /// Writes a place, whether the person had one or not.
    async fn upsert_membership(
        &mut self,
        workspace: WorkspaceId,
        membership: &Membership,
    ) -> Result<(), StoreError>;

    /// Takes a place away.
    async fn delete_membership(&mut self, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError>;

    /// How a person went the last time, unless they have come back by an invite since.
    async fn leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<LeaveReason>, StoreError>;

    /// Notes how a person went; none forgets it.
    async fn set_leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        reason: Option<(LeaveReason, Timestamp)>,
    ) -> Result<(), StoreError>;
}
