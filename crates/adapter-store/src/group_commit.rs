//! Group commit: many requests of the hot path share one transaction.
//!
//! The crate `group-commit` has the queues, the batches and the replies; this module has the operations and how the two
//! databases write them. SQLite has one writer, on a thread; PostgreSQL has several, and a workspace always uses the same one, so
//! that writers do not wait for each other's rows. Each writer has a connection of its own.

mod accept;
mod app_health;
mod audit;
mod batch;
mod checkpointer;
mod claim;
mod claim_for_slots;
mod claim_turns;
mod concurrency;
mod dead_letters;
mod event_triggers;
mod failure_streaks;
mod finish;
mod perform;
mod pg_params;
mod pg_writer;
#[cfg(test)]
mod pool_writer;
mod publish;
mod queue;
pub(crate) mod quota;
mod refusal;
mod replies;
mod signature_cache;
mod slots;
mod sqlite_writer;
mod start_on_accept;
mod webhook_store;

use std::{hash::Hash, path::Path, sync::Arc};

use ::group_commit::{OpQueue, SyncHealth, WriterStopped};
use kernel::{StoreError, id::WorkspaceId};
use sqlx::postgres::PgConnectOptions;
use tokio::sync::Notify;

pub(crate) use self::{app_health::quarter_of, failure_streaks::ALERT_AFTER_FAILURES};
use self::{
    batch::{Reply, WriteOp},
    pg_writer::PgWriter,
    replies::Replies,
    slots::OfferedSlots,
    sqlite_writer::SqliteWriter,
};
use crate::{events::notifier::EventNotifier, pool::WriteLock};

/// Writers of one process on PostgreSQL.
pub(crate) const POSTGRES_WRITERS: usize = 4;

/// The writers of one process.
pub(crate) struct GroupCommit {
    queues: ::group_commit::GroupCommit<WriteOp>,
    slots: Arc<OfferedSlots>,
    /// Health of fsync where durability is handled outside the database.
    sync_health: SyncHealth,
}

impl GroupCommit {
    /// Starts one writer on a thread, for SQLite.
    pub(crate) fn on_sqlite(
        path: &Path,
        write_lock: WriteLock,
        queue_notify: Arc<Notify>,
        event_notifier: Arc<EventNotifier>,
    ) -> Result<Self, StoreError> {
        let slots = Arc::<OfferedSlots>::default();
        let replies = Replies { queue_notify, event_notifier, slots: Arc::clone(&slots) };
        let writer = SqliteWriter::open(path, write_lock, replies)?;
        let sync_health = writer.sync_health();
        let (queues, mut receivers) = ::group_commit::GroupCommit::new(1);
        if let Some(queue) = receivers.pop() {
            queue.spawn_thread("hot-path", writer).map_err(|error| StoreError::Unavailable(error.into()))?;
        }
        Ok(Self { queues, slots, sync_health })
    }

    /// Starts writers as tasks, for PostgreSQL.
    pub(crate) fn on_postgres(
        options: &PgConnectOptions,
        writers: usize,
        queue_notify: &Arc<Notify>,
        event_notifier: &Arc<EventNotifier>,
    ) -> Self {
        Self::in_tasks(writers, queue_notify, event_notifier, |queue, replies| {
            tokio::spawn(queue.run(PgWriter::new(options.clone(), replies)));
        })
    }

    /// Starts one writer over a pool's connections.
    #[cfg(test)]
    pub(crate) fn on_pool(
        db: &sea_orm::DatabaseConnection,
        queue_notify: &Arc<Notify>,
        event_notifier: &Arc<EventNotifier>,
    ) -> Self {
        Self::in_tasks(1, queue_notify, event_notifier, |queue, replies| {
            tokio::spawn(queue.run(pool_writer::PoolWriter::new(db.clone(), replies)));
        })
    }

    fn in_tasks(
        writers: usize,
        queue_notify: &Arc<Notify>,
        event_notifier: &Arc<EventNotifier>,
        spawn: impl Fn(OpQueue<WriteOp>, Replies),
    ) -> Self {
        let slots = Arc::<OfferedSlots>::default();
        let replies = Replies {
            queue_notify: Arc::clone(queue_notify),
            event_notifier: Arc::clone(event_notifier),
            slots: Arc::clone(&slots),
        };
        let (queues, receivers) = ::group_commit::GroupCommit::new(writers);
        for queue in receivers {
            spawn(queue, replies.clone());
        }
        Self { queues, slots, sync_health: SyncHealth::default() }
    }

    /// Fails once nothing can be made durable any more.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.sync_health.check().map_err(|failed| StoreError::Unavailable(failed.into()))
    }

    /// Hands an operation to its workspace's writer and waits for the outcome.
    async fn submit<T>(
        &self,
        workspace: WorkspaceId,
        op: impl FnOnce(Reply<T>) -> WriteOp,
    ) -> Result<T, StoreError> {
        self.submit_keyed(workspace, op).await
    }

    /// Hands an operation to the writer that `key` always uses and waits for the outcome.
    async fn submit_keyed<T>(
        &self,
        key: impl Hash,
        op: impl FnOnce(Reply<T>) -> WriteOp,
    ) -> Result<T, StoreError> {
        let result = self.queues.submit(key, op).await;
        result.map_err(|stopped: WriterStopped| StoreError::Unavailable(stopped.into()))?
    }
}
