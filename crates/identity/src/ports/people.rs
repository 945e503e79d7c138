//! The traits that a store implements for people and their place in a workspace.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{DeviceLoginId, TokenId, UserId, WorkspaceId},
};

use crate::User;

/// Reads of several people at once.
#[async_trait]
pub trait PeopleRead: Send + Sync {
    /// Finds people by id, in no particular order; unknown ids are left out.
    async fn users(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Finds those of these people with a session that was last seen after `since` and has not expired at `now`.
    async fn find_online_users(
        &self,
        ids: &[UserId],
        since: Timestamp,
        now: Timestamp,
    ) -> Result<BTreeSet<UserId>, StoreError>;
}

/// Writes about a person in one workspace.
#[async_trait]
pub trait PeopleTx: UnitOfWork {
    /// Revokes a person's tokens in a workspace and returns those that were not revoked before.
    async fn revoke_tokens_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<TokenId>, StoreError>;

    /// Denies the device logins that a person approved for a workspace and whose tokens have not been delivered, and
    /// returns them.
    async fn deny_device_logins_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<DeviceLoginId>, StoreError>;
}
