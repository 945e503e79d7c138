//! The batches of an import that the store took, to say where a row is that it refused.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::record_splitter::Position;

/// The positions of the first and the last row of a batch. A store does not say which of its rows was refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowRange {
    pub(super) first: Position,
    pub(super) last: Position,
}

impl fmt::Display for RowRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        match (first.element, last.element) {
            _ if first == last => write!(f, "In {first}."),
            (Some(first), Some(last)) => write!(f, "It is among the rows {first} to {last}."),
            _ => write!(f, "It is among the lines {} to {}.", first.line, last.line),
        }
    }
}

/// The batches that the store took in the current attempt.
#[derive(Default)]
pub(super) struct WrittenBatches {
    rows: AtomicU64,
    last: Mutex<Option<RowRange>>,
}

impl WrittenBatches {
    /// Forgets the batches of an attempt that was undone.
    pub(super) fn restart(&self) {
        self.rows.store(0, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Adds a batch and returns the number of rows before it.
    pub(super) fn start(&self, range: RowRange, rows: usize) -> u64 {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(range);
        self.rows.fetch_add(rows as u64, Ordering::Relaxed)
    }

    pub(super) fn last(&self) -> Option<RowRange> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
