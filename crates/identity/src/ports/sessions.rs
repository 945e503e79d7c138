//! What the list of sessions and stepping up need from a store.

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
    /// A session by id, ended ones that were not swept yet included.
    async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// A person's sessions, newest first, ended ones that were not swept yet included; up to one more than the limit.
    async fn sessions_of(&self, user: UserId, page: PageRequest) -> Result<Vec<Session>, StoreError>;
}

/// Writes.
#[async_trait]
pub trait SessionTx: UnitOfWork {
    /// Ends one of a person's sessions; whether there was one.
    async fn delete_session_of(&mut self, user: UserId, session: SessionId) -> Result<bool, StoreError>;

    /// Ends a person's sessions, save one; how many there were.
    async fn delete_sessions_of(&mut self, user: UserId, keep: Option<SessionId>) -> Result<u64, StoreError>;

    /// Ends a person's sessions save the `keep` ones that were seen last; which these were.
    async fn delete_oldest_sessions_of(
        &mut self,
        user: UserId,
        keep: u64,
    ) -> Result<Vec<SessionId>, StoreError>;

    /// Puts a session under a new secret and notes that its person was proven at `at`; whether there was one.
    async fn record_step_up(
        &mut self,
        session: SessionId,
        digest: &Digest,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Notes when sessions were last seen, many at once and off the request's way.
#[async_trait]
pub trait SessionUsageWriter: Send + Sync {
    /// Keeps the moments; an earlier one never overwrites a later one.
    async fn touch_sessions(&self, uses: &[(SessionId, Timestamp)]) -> Result<(), StoreError>;
}
