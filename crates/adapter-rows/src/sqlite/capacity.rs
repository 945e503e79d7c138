//! The storage that is left for the rows of a file.
//!
//! SQLite is asked before each write to a file that is nearly full. If far more storage is left than a write sends, it
//! is asked again only after writes have sent a part of it, which saves two statements per write.

use backend_data::{StoreError, store::Write};
use rusqlite::Connection;

use super::execute;
use crate::write_size;

/// Maximum ratio of stored bytes to sent bytes: a short row may have an entry in each of many indexes.
const MAX_AMPLIFICATION: u64 = 8;

/// An estimate of the storage that is left in a file. Only this process writes to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CapacityEstimate {
    limit: u64,
    /// Bytes that were left at the last measurement.
    remaining: u64,
    /// Bytes that were sent since.
    sent_bytes: u64,
}

impl CapacityEstimate {
    /// Refuses a write if the rows of the file take as many bytes as they may.
    pub(super) fn reserve(&mut self, connection: &Connection, write: &Write) -> Result<(), StoreError> {
        let Some(limit) = write.max_stored_bytes else { return Ok(()) };
        let bytes = write_size::estimate_write_bytes(write);
        self.sent_bytes = self.sent_bytes.saturating_add(bytes);
        if self.limit != limit || self.sent_bytes.saturating_mul(MAX_AMPLIFICATION) >= self.remaining {
            execute::ensure_capacity(connection, Some(limit))?;
            *self = Self {
                limit,
                remaining: limit.saturating_sub(execute::stored_bytes(connection)?),
                sent_bytes: bytes,
            };
        }
        if write.rows.is_none() {
            // An update sends a value once and may write it to any number of rows.
            self.invalidate();
        }
        Ok(())
    }

    /// Makes the next write measure again. Call it after a change that may store more than it sent.
    pub(super) fn invalidate(&mut self) {
        *self = Self::default();
    }
}
