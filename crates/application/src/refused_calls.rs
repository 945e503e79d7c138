//! Refused calls of webhooks: counted in memory, written in batches.
//!
//! A webhook is written at most once a minute, however many calls strangers send to it; the first call after a quiet minute
//! is written at once.

mod buffer;

use kernel::StoreError;

pub use buffer::RefusedCallsBuffer;

use crate::Application;

impl Application {
    /// Writes the counts of refused calls that are due.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails; counts that were not written are lost.
    pub async fn flush_refused_calls(&self) -> Result<(), StoreError> {
        let due = self.refused_calls().take_due(self.now());
        if due.is_empty() { Ok(()) } else { self.store().add_refused_calls(&due).await }
    }
}
