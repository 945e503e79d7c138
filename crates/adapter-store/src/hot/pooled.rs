//! A lane over the pools' connections.

use kernel::StoreError;
use sea_orm::DatabaseConnection;

use super::{Batch, Lane, Written, promises::Promise};
use crate::{error::OrStoreError as _, store};

/// A lane whose transactions are sent to the database.
pub(super) struct PooledLane(pub(super) DatabaseConnection);

impl Lane for PooledLane {
    const NAPS: u32 = 0;

    async fn write(&mut self, batch: &Batch<'_>) -> Result<Written, StoreError> {
        if let Some(written) = batch.idle(&self.0).await? {
            return Ok(written);
        }
        let tx = store::begin(&self.0).await?;
        let written = batch.perform(&tx, None).await?;
        tx.commit().await.or_store_error()?;
        Ok(written)
    }

    fn once_durable(&self, promise: Promise) {
        // PostgreSQL answers a commit once it is.
        promise(Ok(()));
    }
}
