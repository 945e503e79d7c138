//! Counts of calls that prove nothing, so that somebody who sets a webhook up sees that calls arrive.
//!
//! Strangers can send any number of them: they are counted in memory, and a store is asked to write at most once a
//! minute for each webhook.

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    id::{HookId, WorkspaceId},
};

/// Time over which refused calls are shown.
pub const SHOWN: TimeDelta = TimeDelta::hours(1);
/// Time that counts are kept.
pub const KEPT: TimeDelta = TimeDelta::days(1);
/// Seconds of one count.
const MINUTE_SECONDS: i64 = 60;

/// Refused calls of a webhook in a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedCalls {
    /// Number of the calls.
    pub calls: u64,
    /// Time of the last one.
    pub last_at: Timestamp,
    /// Code of its refusal.
    pub code: String,
}

/// Refused calls of a webhook that are to be added to a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedCallsEntry {
    /// Webhook that was called.
    pub hook: HookId,
    /// Workspace of the webhook.
    pub workspace: WorkspaceId,
    /// Number of the calls.
    pub calls: u64,
    /// Time of the last one.
    pub last_at: Timestamp,
    /// Code of its refusal.
    pub code: &'static str,
}

/// Returns the minute of a time, in minutes since 1970.
#[must_use]
pub fn minute_of(time: Timestamp) -> i64 {
    time.timestamp().div_euclid(MINUTE_SECONDS)
}

/// Counts refused calls in memory.
pub trait RefusedCallCounter: Send + Sync {
    /// Counts a call of a webhook that exists.
    fn count_refused(&self, hook: HookId, workspace: WorkspaceId, code: &'static str, at: Timestamp);
}

/// Keeps the counts of refused calls.
#[async_trait]
pub trait RefusedCallsLog: Send + Sync {
    /// Adds to the counts.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    async fn add_refused_calls(&self, entries: &[RefusedCallsEntry]) -> Result<(), StoreError>;

    /// Returns the calls of a webhook that were refused after `since`; `None` without any.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    async fn refused_calls(
        &self,
        workspace: WorkspaceId,
        hook: HookId,
        since: Timestamp,
    ) -> Result<Option<RefusedCalls>, StoreError>;
}
