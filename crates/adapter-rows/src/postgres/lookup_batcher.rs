//! Batching of reads by id. A read that arrives while a statement of the same shape runs waits for its end, and all
//! reads that wait run in the next one. Without load, no read waits. Under load, the overhead of a statement, which is
//! most of its time, is shared by many reads.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use backend_data::{
    ProjectRef, StoreError,
    store::{Read, StatementResult, TableScope},
};
use futures::future::join_all;
use tokio::sync::oneshot;

use super::{lookup, pool::Pool, runner::Runner, storage_usage::StorageUsage};

/// The shape of a read: all that reads in one statement have in common, which excludes the id and the format.
/// Statements name the schema of their project, so reads of two projects have different shapes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct LookupShape(Arc<str>);

impl LookupShape {
    /// Returns the shape of a read by id.
    fn from_read(read: &Read) -> Self {
        let others = read.params.get(1..).unwrap_or_default();
        Self(format!("{}\0{}\0{others:?}", read.version, read.sql).into())
    }
}

/// A read that waits for its result.
struct PendingRead {
    read: Read,
    reply: oneshot::Sender<Result<StatementResult, StoreError>>,
}

/// The reads of one shape.
#[derive(Default)]
struct PendingLookups {
    /// Number of running statements.
    in_flight: usize,
    pending: Vec<PendingRead>,
}

/// A batcher of reads by id. A clone shares the batches.
#[derive(Clone, Default)]
pub(super) struct LookupBatcher(Arc<Mutex<HashMap<LookupShape, PendingLookups>>>);

impl fmt::Debug for LookupBatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookupBatcher").finish_non_exhaustive()
    }
}

impl LookupBatcher {
    /// Runs a read by id, alone or with others.
    pub(super) async fn read(
        &self,
        (pool, project, storage_usage): (&Pool, &ProjectRef, &StorageUsage),
        set_timeouts_sql: Option<&Arc<str>>,
        scope: impl FnOnce() -> TableScope,
        read: Read,
    ) -> Result<StatementResult, StoreError> {
        let (reply, result) = oneshot::channel();
        let shape = LookupShape::from_read(&read);
        if let Some(batch) = self.enqueue(&shape, PendingRead { read, reply }) {
            let runner = BatchRunner {
                batcher: self.clone(),
                shape,
                pool: pool.clone(),
                project: project.clone(),
                set_timeouts_sql: set_timeouts_sql.cloned(),
                scope: scope(),
                storage_usage: storage_usage.clone(),
                is_finished: false,
            };
            // On its own task: the caller may be canceled while others wait for the batch.
            tokio::spawn(runner.run(batch));
        }
        result.await.unwrap_or_else(|_| Err(StoreError::Internal("a lookup was abandoned".into())))
    }

    /// Adds a read. Returns a batch that the caller has to run: the first read of its shape, or as many as fill a
    /// statement.
    fn enqueue(&self, shape: &LookupShape, read: PendingRead) -> Option<Vec<PendingRead>> {
        match self.lock().entry(shape.clone()) {
            Entry::Vacant(group) => {
                group.insert(PendingLookups { in_flight: 1, pending: Vec::new() });
                Some(vec![read])
            }
            Entry::Occupied(mut group) => {
                let group = group.get_mut();
                group.pending.push(read);
                let full = group.pending.len() >= lookup::MAX_IDS;
                group.in_flight += usize::from(full);
                full.then(|| std::mem::take(&mut group.pending))
            }
        }
    }

    /// Returns the next batch after a statement has ended.
    fn next_batch(&self, shape: &LookupShape) -> Option<Vec<PendingRead>> {
        let mut groups = self.lock();
        let group = groups.get_mut(shape)?;
        if !group.pending.is_empty() {
            return Some(std::mem::take(&mut group.pending));
        }
        group.in_flight -= 1;
        if group.in_flight == 0 {
            groups.remove(shape);
        }
        None
    }

    /// Locks the batches. A poisoned lock is no problem: no change of them can panic halfway.
    fn lock(&self) -> MutexGuard<'_, HashMap<LookupShape, PendingLookups>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a factory of the error for each read of a batch if each of them would fail with it alone: a catalog that has
/// changed, or a database that is unreachable, locked or slow, for which each read would wait again.
fn shared_error(error: &StoreError) -> Option<Box<dyn Fn() -> StoreError + Send>> {
    match error {
        StoreError::Stale => Some(Box::new(|| StoreError::Stale)),
        StoreError::Timeout => Some(Box::new(|| StoreError::Timeout)),
        StoreError::Unavailable(source) => {
            let source = source.to_string();
            Some(Box::new(move || StoreError::Unavailable(source.clone().into())))
        }
        _ => None,
    }
}

/// A runner of batches of one shape, one after the other, until no read waits.
struct BatchRunner {
    batcher: LookupBatcher,
    shape: LookupShape,
    pool: Pool,
    project: ProjectRef,
    set_timeouts_sql: Option<Arc<str>>,
    scope: TableScope,
    storage_usage: StorageUsage,
    is_finished: bool,
}

impl Drop for BatchRunner {
    fn drop(&mut self) {
        // After a panic, or when the process stops, removing the reads that wait makes them fail rather than wait
        // forever.
        if !self.is_finished {
            self.batcher.lock().remove(&self.shape);
        }
    }
}

impl BatchRunner {
    async fn run(mut self, batch: Vec<PendingRead>) {
        let mut batch = Some(batch);
        while let Some(waiting) = batch {
            self.run_batch(waiting).await;
            batch = self.batcher.next_batch(&self.shape);
        }
        self.is_finished = true;
    }

    async fn run_batch(&self, mut waiting: Vec<PendingRead>) {
        waiting.retain(|waiting| !waiting.reply.is_closed());
        let runner = Runner {
            pool: &self.pool,
            scope: &self.scope,
            project: &self.project,
            set_timeouts_sql: self.set_timeouts_sql.as_ref(),
            storage_usage: &self.storage_usage,
        };
        if waiting.len() > 1 {
            let reads: Vec<&Read> = waiting.iter().map(|waiting| &waiting.read).collect();
            match runner.look_up(&reads).await {
                Ok(results) => {
                    for (waiting, result) in waiting.into_iter().zip(results) {
                        // The caller may be gone.
                        drop(waiting.reply.send(result));
                    }
                    return;
                }
                Err(error) => {
                    if let Some(new_error) = shared_error(&error) {
                        for waiting in waiting {
                            drop(waiting.reply.send(Err(new_error())));
                        }
                        return;
                    }
                }
            }
        }
        // One read, or each read by itself, since one of them may be the cause of the error.
        let alone = waiting.into_iter().map(async |PendingRead { read, reply }| {
            drop(reply.send(runner.read(&read).await));
        });
        join_all(alone).await;
    }
}
