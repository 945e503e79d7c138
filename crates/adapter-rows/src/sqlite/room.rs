//! How much more the rows of a file may take.
//!
//! SQLite knows it and is asked before each write of a file that is nearly full. Where there is far more room than is sent,
//! it is asked again only once a part of it has been sent: two statements less for each write.

use backend_data::{StoreError, store::Write};
use rusqlite::Connection;

use super::run;
use crate::sent;

/// How much larger than what is sent what is stored may be: a short row may have an entry in each of many indexes.
const GROWTH: u64 = 8;

/// What is known of the room in a file that this process alone writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    limit: u64,
    /// How many bytes were left at the last look.
    left: u64,
    /// How many were sent since.
    sent: u64,
}

impl Room {
    /// Refuses a write of a file whose rows take as many bytes as they may.
    pub(super) fn admit(&mut self, connection: &Connection, write: &Write) -> Result<(), StoreError> {
        let Some(limit) = write.max_stored else { return Ok(()) };
        let bytes = sent::bytes(write);
        self.sent = self.sent.saturating_add(bytes);
        if self.limit != limit || self.sent.saturating_mul(GROWTH) >= self.left {
            run::has_room(connection, Some(limit))?;
            *self = Self { limit, left: limit.saturating_sub(run::stored(connection)?), sent: bytes };
        }
        if write.rows.is_none() {
            // An update sends a value once and may write it to any number of rows.
            self.forget();
        }
        Ok(())
    }

    /// Has the next write look: what was done is not told by what was sent.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
