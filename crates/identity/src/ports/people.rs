//! What is needed from a store about many people at once.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{DeviceLoginId, TokenId, UserId, WorkspaceId},
};

use crate::User;

/// Reads of many people.
#[async_trait]
pub trait PeopleRead: Send + Sync {
    /// These people, in no order; who is not there is left out.
    async fn users(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Which of these people have a live session that was seen after `since`.
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
    /// Marks every token of a person in a workspace revoked that is not already; which these were.
    async fn revoke_tokens_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<TokenId>, StoreError>;

    /// Denies every device login that a person approved for a workspace and that has not been given its token yet;
    /// which these were.
    async fn deny_device_logins_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<DeviceLoginId>, StoreError>;
}
