//! A lane over the pools' connections.

use kernel::StoreError;
use sea_orm::DatabaseConnection;

use super::{Batch, Lane, Written};
use crate::{error::OrStoreError as _, store};

/// A lane whose transactions are sent to the database.
pub(super) struct PooledLane(pub(super) DatabaseConnection);

impl Lane for PooledLane {
    async fn write(&mut self, batch: &Batch<'_>) -> Result<Written, StoreError> {
        if let Some(written) = batch.idle(&self.0).await? {
            return Ok(written);
        }
        let tx = store::begin(&self.0).await?;
        let written = batch.perform(&tx).await?;
        tx.commit().await.or_store_error()?;
        Ok(written)
    }
}
