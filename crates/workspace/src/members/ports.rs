//! What members need from a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{UserId, WorkspaceId},
};

use super::{Departure, Home, Membership};

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
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<Home>, StoreError>;

    /// One person's place, also when their access has ended.
    async fn membership_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError>;

    /// How many owners have access at `now`.
    async fn count_owners(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError>;

    /// Writes a place, whether the person had one or not.
    async fn put_membership(
        &mut self,
        workspace: WorkspaceId,
        membership: &Membership,
    ) -> Result<(), StoreError>;

    /// Takes a place away.
    async fn delete_membership(&mut self, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError>;

    /// How a person went the last time, unless they have come back by an invite since.
    async fn departure(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Departure>, StoreError>;

    /// Notes how a person went; none forgets it.
    async fn set_departure(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        departure: Option<(Departure, Timestamp)>,
    ) -> Result<(), StoreError>;
}
