//! The traits that a store implements for the list of sessions and for stepping up.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{SessionId, UserId},
    page::PageRequest,
    token::Digest,
};

use crate::sessions::Session;

/// Reads that need no transaction.
#[async_trait]
pub trait SessionRead: Send + Sync {
    /// Finds a session by id, including an expired one that is not deleted yet.
    async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// Lists a person's sessions, newest first, including expired ones that are not deleted yet; up to one more than
    /// the page's limit.
    async fn sessions_of(&self, user: UserId, page: PageRequest) -> Result<Vec<Session>, StoreError>;
}

/// Writes.
#[async_trait]
pub trait SessionTx: UnitOfWork {
    /// Deletes one of a person's sessions; `true` if it existed.
    async fn delete_session_of(&mut self, user: UserId, session: SessionId) -> Result<bool, StoreError>;

    /// Deletes a person's sessions except `keep` and returns their number.
    async fn delete_sessions_of(&mut self, user: UserId, keep: Option<SessionId>) -> Result<u64, StoreError>;

    /// Deletes a person's sessions except the `keep` most recently seen ones and returns the deleted ones.
    async fn delete_oldest_sessions_of(
        &mut self,
        user: UserId,
        keep: u64,
    ) -> Result<Vec<SessionId>, StoreError>;

    /// Stores a session under the digest of a new secret and records the step-up at `at`; `true` if it existed.
    async fn record_step_up(
        &mut self,
        session: SessionId,
        digest: &Digest,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Records when sessions were last seen, in batches outside the requests.
#[async_trait]
pub trait SessionUsageWriter: Send + Sync {
    /// Stores the times; an earlier time never overwrites a later one.
    async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError>;
}
