//! The writer of PostgreSQL, over the pools' connections.

use kernel::StoreError;
use sea_orm::DatabaseConnection;

use super::{
    batch::{Batch, BatchOutcome, BatchWriter},
    fsync_queue::DurabilityWaiter,
};
use crate::{error::OrStoreError as _, pool};

/// A writer whose transactions are sent to the database.
pub(super) struct PgWriter(pub(super) DatabaseConnection);

impl BatchWriter for PgWriter {
    const LINGER_ROUNDS: u32 = 0;

    async fn write(&mut self, batch: &Batch<'_>) -> Result<BatchOutcome, StoreError> {
        if let Some(written) = batch.outcome_if_idle(&self.0).await? {
            return Ok(written);
        }
        let tx = pool::begin(&self.0).await?;
        let written = batch.perform(&tx, None).await?;
        tx.commit().await.or_store_error()?;
        Ok(written)
    }

    fn on_durable(&self, waiter: DurabilityWaiter) {
        // PostgreSQL answers a commit once it is.
        waiter(Ok(()));
    }
}
