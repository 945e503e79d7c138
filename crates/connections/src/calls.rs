//! The record of requests by gate, which counts are made from.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{GateId, WorkspaceId},
};

use crate::health::{Bucket, CallCounts};

/// Requests in a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallSum {
    /// Numbers by outcome.
    pub counts: CallCounts,
    /// Time of the last request that was sent.
    pub last_call_at: Option<Timestamp>,
}

/// Requests of one gate in one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLogEntry {
    /// Workspace of the gate.
    pub workspace: WorkspaceId,
    /// Gate; that of a connection has the connection's id.
    pub gate: GateId,
    /// Five minutes in which the requests were decided on.
    pub bucket: Bucket,
    /// Requests.
    pub sum: CallSum,
}

/// Records requests by gate.
#[async_trait]
pub trait CallLog: Send + Sync {
    /// Adds to what is recorded.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn add_calls(&self, entries: &[CallLogEntry]) -> Result<(), StoreError>;
}
