//! A writer over the pools' connections, whose statements a test can read.

use ::group_commit::{BatchWriter, DurabilityWaiter};
use kernel::StoreError;
use sea_orm::DatabaseConnection;

use super::{
    app_health::ObservationCache,
    batch::{Batch, BatchOutcome, WriteOp},
    replies::{Replies, clone_error},
};
use crate::{error::OrStoreError as _, pool};

/// A writer that binds rows as values, several in a statement.
pub(super) struct PoolWriter {
    db: DatabaseConnection,
    replies: Replies,
    observation_cache: ObservationCache,
}

impl PoolWriter {
    pub(super) fn new(db: DatabaseConnection, replies: Replies) -> Self {
        Self { db, replies, observation_cache: ObservationCache::default() }
    }
}

impl BatchWriter for PoolWriter {
    type Op = WriteOp;
    type Outcome = BatchOutcome;
    type Error = StoreError;

    async fn write(&mut self, ops: &[WriteOp]) -> Result<BatchOutcome, StoreError> {
        let batch = Batch::from_ops(ops);
        if let Some(written) = batch.outcome_if_idle(&self.db).await? {
            return Ok(written);
        }
        let tx = pool::begin(&self.db).await?;
        let written = batch.perform(&tx, None, &self.observation_cache, &self.replies.slots).await?;
        tx.commit().await.or_store_error()?;
        self.observation_cache.insert_committed(&written.observed);
        Ok(written)
    }

    fn reply(
        &mut self,
        ops: impl Iterator<Item = WriteOp>,
        written: BatchOutcome,
    ) -> Option<DurabilityWaiter> {
        self.replies.reply(ops, written)
    }

    fn on_durable(&self, waiter: DurabilityWaiter) {
        waiter(Ok(()));
    }

    fn fail(op: WriteOp, error: &StoreError) {
        op.fail(clone_error(error));
    }

    fn is_unavailable(error: &StoreError) -> bool {
        matches!(error, StoreError::Unavailable(_))
    }
}
