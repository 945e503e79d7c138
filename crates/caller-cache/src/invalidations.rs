//! The count of invalidations, by which a reader learns that what it read may be stale.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts invalidations, so that what was read before one is not kept after it.
#[derive(Debug, Default)]
pub(crate) struct Invalidations(AtomicU64);

impl Invalidations {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Counts an invalidation, then makes it. In this order: whoever read before it and inserts after it sees the count
    /// and removes the entry again.
    pub(crate) fn record(&self, invalidate: impl FnOnce()) {
        self.0.fetch_add(1, Ordering::SeqCst);
        invalidate();
    }
}
