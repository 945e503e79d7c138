//! Counts of requests to the data API: collected in memory, written in batches.

mod buffer;

use kernel::StoreError;

pub use buffer::TrafficBuffer;

use crate::Application;

impl Application {
    /// Writes the requests since the last call.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails; requests that were not written are lost.
    pub async fn flush_traffic(&self) -> Result<(), StoreError> {
        let (requests, counted) = self.traffic().take();
        if counted.is_empty() {
            return Ok(());
        }
        self.store().record_requests(&requests, &counted).await
    }
}
