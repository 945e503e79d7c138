//! How much more the rows of a file may take.
//!
//! SQLite knows it and is asked before each write of a file that is nearly full. Where there is far more room than is sent,
//! it is asked again only once a part of it has been sent: two statements less for each write.

use backend_data::{StoreError, store::Write};
use rusqlite::Connection;

use super::execute;
use crate::write_size;

/// How much larger than what is sent what is stored may be: a short row may have an entry in each of many indexes.
const MAX_AMPLIFICATION: u64 = 8;

/// What is known of the room in a file that this process alone writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CapacityEstimate {
    limit: u64,
    /// How many bytes were left at the last look.
    remaining: u64,
    /// How many were sent since.
    sent_bytes: u64,
}

impl CapacityEstimate {
    /// Refuses a write of a file whose rows take as many bytes as they may.
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

    /// Has the next write look: what was done is not told by what was sent.
    pub(super) fn invalidate(&mut self) {
        *self = Self::default();
    }
}
