//! Group commit: many requests of the hot path share one transaction.
//!
//! Each writer takes what has queued up, up to [`MAX_BATCH_OPS`] operations, writes it in one transaction and answers
//! after the commit. While it commits, the next batch queues up: under load the batches grow and the cost of a commit
//! is shared, at rest nobody waits. SQLite has one writer, on a thread with a connection of its own; PostgreSQL has
//! several, and a workspace always uses the same one, so that writers do not wait for each other's rows.

mod accept;
mod audit;
mod batch;
mod checkpointer;
mod claim;
mod claim_on_accept;
mod dead_letters;
mod event_triggers;
mod failure_streaks;
mod finish;
mod fsync_queue;
mod perform;
mod pg_writer;
mod publish;
mod queue;
pub(crate) mod quota;
mod refusal;
mod signature_cache;
mod sqlite_writer;
mod webhook_store;

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use kernel::{StoreError, id::WorkspaceId};
use runs::webhooks::AcceptOutcome;
use sea_orm::DatabaseConnection;
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc, oneshot},
};

use self::{
    batch::{Batch, BatchOutcome, BatchWriter, Reply, WriteOp},
    fsync_queue::SyncHealth,
    pg_writer::PgWriter,
    sqlite_writer::SqliteWriter,
};
use crate::{events::notifier::EventNotifier, pool::WriteLock};

/// Operations that share one transaction; at most.
const MAX_BATCH_OPS: usize = 128;
/// Linger per batch; shorter than a runtime timer can be.
const LINGER: Duration = Duration::from_micros(60);
/// Operations that may wait for a writer before senders do.
const QUEUE_CAPACITY: usize = 1024;
/// Writers of one process on PostgreSQL.
pub(crate) const POSTGRES_WRITERS: usize = 4;

/// The writers of one process.
pub(crate) struct GroupCommit {
    writers: Vec<mpsc::Sender<WriteOp>>,
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
        let writer = SqliteWriter::open(path, write_lock)?;
        let sync_health = writer.sync_health();
        let (sender, receiver) = mpsc::channel(QUEUE_CAPACITY);
        let runtime = Handle::current();
        thread::Builder::new()
            .name("hot-path".to_owned())
            .spawn(move || runtime.block_on(run_writer(writer, queue_notify, event_notifier, receiver)))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Self { writers: vec![sender], sync_health })
    }

    /// Starts writers as tasks over the pool's connections.
    pub(crate) fn on_pool(
        db: &DatabaseConnection,
        writers: usize,
        queue_notify: &Arc<Notify>,
        event_notifier: &Arc<EventNotifier>,
    ) -> Self {
        let start_writer = |_| {
            let (sender, receiver) = mpsc::channel(QUEUE_CAPACITY);
            let writer = PgWriter(db.clone());
            tokio::spawn(run_writer(writer, Arc::clone(queue_notify), Arc::clone(event_notifier), receiver));
            sender
        };
        Self { writers: (0..writers).map(start_writer).collect(), sync_health: SyncHealth::default() }
    }

    /// Fails once nothing can be made durable any more.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.sync_health.check()
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
        let stopped = || StoreError::Unavailable("the store is stopping".into());
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let index = (hasher.finish() % self.writers.len() as u64) as usize;
        let (reply, answer) = oneshot::channel();
        self.writers[index].send(op(reply)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

async fn run_writer<L: BatchWriter>(
    mut writer: L,
    queue_notify: Arc<Notify>,
    event_notifier: Arc<EventNotifier>,
    mut ops: mpsc::Receiver<WriteOp>,
) {
    let mut batch = Vec::with_capacity(MAX_BATCH_OPS);
    let mut previous_len = 1;
    while ops.recv_many(&mut batch, MAX_BATCH_OPS).await > 0 {
        linger::<L>(&mut ops, &mut batch, previous_len);
        previous_len = batch.len();
        let error = match writer.write(&Batch::from_ops(&batch)).await {
            Ok(written) => {
                reply_to_callers(&writer, batch.drain(..), written, (&queue_notify, &event_notifier));
                continue;
            }
            Err(error) => error,
        };
        if let [_] = batch[..] {
            batch.drain(..).for_each(|op| op.fail(clone_error(&error)));
            continue;
        }
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            operations = batch.len(),
            "a batch failed; its operations are tried one by one"
        );
        let mut unavailable = None;
        for op in batch.drain(..) {
            // The others would each wait as long for a database that cannot be written to.
            if let Some(error) = &unavailable {
                op.fail(clone_error(error));
                continue;
            }
            match writer.write(&Batch::from_ops(std::slice::from_ref(&op))).await {
                Ok(written) => {
                    reply_to_callers(&writer, [op], written, (&queue_notify, &event_notifier));
                }
                Err(error) => {
                    op.fail(clone_error(&error));
                    unavailable = Some(error).filter(|error| matches!(error, StoreError::Unavailable(_)));
                }
            }
        }
    }
}

/// Waits a moment for as many operations as came the last time. Callers who were just answered ask again at once, and
/// would otherwise each pay for a commit; a caller who is alone waits for nobody.
#[expect(clippy::disallowed_methods, reason = "what it waits for is that nobody comes any more")]
fn linger<L: BatchWriter>(ops: &mut mpsc::Receiver<WriteOp>, batch: &mut Vec<WriteOp>, target_len: usize) {
    for _ in 0..L::LINGER_ROUNDS {
        if batch.len() >= target_len {
            return;
        }
        thread::sleep(LINGER);
        while batch.len() < MAX_BATCH_OPS
            && let Ok(op) = ops.try_recv()
        {
            batch.push(op);
        }
    }
}

/// An error for each of those who wait: the cause of the first is in the log.
fn clone_error(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(cause) => StoreError::Unavailable(cause.to_string().into()),
        other => StoreError::Failed(other.to_string().into()),
    }
}

/// Replies to callers: at once with what this process goes on with, and once it is durable with what callers outside
/// rely on. Work that goes on may be ahead of the disk for a moment; should the power fail then, it is done again.
fn reply_to_callers(
    writer: &impl BatchWriter,
    ops: impl IntoIterator<Item = WriteOp>,
    written: BatchOutcome,
    (queue_notify, event_notifier): (&Notify, &Arc<EventNotifier>),
) {
    let accepted = written.outcomes.iter().filter(|verdict| **verdict == AcceptOutcome::Accepted).count();
    if written.has_ready_runs || accepted > written.claimed_on_accept {
        queue_notify.notify_one();
    }
    let (mut outcomes, mut lease_held) = (written.outcomes.into_iter(), written.lease_held.into_iter());
    let mut claimed = written.claimed.into_iter();
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for op in ops {
        match op {
            WriteOp::Accept(_, reply) => {
                accepted.push((reply, outcomes.next().unwrap_or(AcceptOutcome::Stale)));
            }
            WriteOp::Refuse(_, reply) => refused.push(reply),
            WriteOp::Finish(_, _, reply) => drop(reply.send(Ok(lease_held.next().unwrap_or(false)))),
            WriteOp::Claim(_, reply) => drop(reply.send(Ok(claimed.next().unwrap_or_default()))),
        }
    }
    let (published, event_notifier) = (written.published_workspaces, Arc::clone(event_notifier));
    if published.is_empty() && accepted.is_empty() && refused.is_empty() {
        return;
    }
    writer.on_durable(Box::new(move |durable| {
        event_notifier.wake(&published);
        let durable = || durable.as_ref().map_err(clone_error);
        for (reply, verdict) in accepted {
            drop(reply.send(durable().map(|()| verdict)));
        }
        for reply in refused {
            drop(reply.send(durable().map(|&()| ())));
        }
    }));
}
