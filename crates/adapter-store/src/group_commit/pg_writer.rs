//! The writer of PostgreSQL, over the pools' connections.

use ::group_commit::{BatchWriter, DurabilityWaiter};
use kernel::StoreError;
use sea_orm::DatabaseConnection;

use super::{
    app_health::ObservationCache,
    batch::{Batch, BatchOutcome, WriteOp},
    replies::{Replies, clone_error},
};
use crate::{error::OrStoreError as _, pool};

/// Maximum number of attempts at a batch that the database gives up in favour of another transaction.
const MAX_ATTEMPTS: u32 = 4;

/// A writer whose transactions are sent to the database.
pub(super) struct PgWriter {
    db: DatabaseConnection,
    replies: Replies,
    observation_cache: ObservationCache,
}

impl PgWriter {
    pub(super) fn new(db: DatabaseConnection, replies: Replies) -> Self {
        Self { db, replies, observation_cache: ObservationCache::default() }
    }

    async fn write_once(&self, batch: &Batch<'_>) -> Result<BatchOutcome, StoreError> {
        let tx = pool::begin(&self.db).await?;
        let written = batch.perform(&tx, None, &self.observation_cache, &self.replies.slots).await?;
        tx.commit().await.or_store_error()?;
        Ok(written)
    }
}

impl BatchWriter for PgWriter {
    type Op = WriteOp;
    type Outcome = BatchOutcome;
    type Error = StoreError;

    async fn write(&mut self, ops: &[WriteOp]) -> Result<BatchOutcome, StoreError> {
        let batch = Batch::from_ops(ops);
        if let Some(written) = batch.outcome_if_idle(&self.db).await? {
            return Ok(written);
        }
        // The other transaction goes on, so this one needs no pause to get its turn.
        let mut written = self.write_once(&batch).await;
        for _ in 1..MAX_ATTEMPTS {
            match &written {
                Err(error) if error.is_retryable() => {
                    tracing::debug!("the database rolled a batch back; trying again");
                }
                _ => break,
            }
            written = self.write_once(&batch).await;
        }
        let written = written?;
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
        // PostgreSQL answers a commit once it is.
        waiter(Ok(()));
    }

    fn fail(op: WriteOp, error: &StoreError) {
        op.fail(clone_error(error));
    }

    fn is_unavailable(error: &StoreError) -> bool {
        matches!(error, StoreError::Unavailable(_))
    }
}
