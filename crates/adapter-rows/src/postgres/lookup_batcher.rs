//! Reads by id that travel together: what is asked while a statement of the same shape is under way waits for its end,
//! and goes with all others that wait in the next one. At rest nobody waits; under load a server that takes most of
//! its time to hear, plan and answer one statement does so once for many rows.

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

use super::{execute::Runner, lookup, pool::Pool, storage_usage::StorageUsage};

/// What reads must have in common to be one statement: all but the id and how the row is written. Statements name the
/// schema of their project, so that the text tells projects apart too.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct LookupShape(Arc<str>);

impl LookupShape {
    /// The shape of a read by id.
    fn from_read(read: &Read) -> Self {
        let others = read.params.get(1..).unwrap_or_default();
        Self(format!("{}\0{}\0{others:?}", read.version, read.sql).into())
    }
}

/// A read, and where its answer goes.
struct PendingRead {
    read: Read,
    reply: oneshot::Sender<Result<StatementResult, StoreError>>,
}

/// The reads of one shape.
#[derive(Default)]
struct PendingLookups {
    /// How many statements are under way.
    in_flight: usize,
    pending: Vec<PendingRead>,
}

/// Gathers reads by id. A clone is the same.
#[derive(Clone, Default)]
pub(super) struct LookupBatcher(Arc<Mutex<HashMap<LookupShape, PendingLookups>>>);

impl fmt::Debug for LookupBatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").finish_non_exhaustive()
    }
}

impl LookupBatcher {
    /// Runs a read by id, alone or with others.
    pub(super) async fn read(
        &self,
        (pool, project, stored): (&Pool, &ProjectRef, &StorageUsage),
        limit: Option<&Arc<str>>,
        place: impl FnOnce() -> TableScope,
        read: Read,
    ) -> Result<StatementResult, StoreError> {
        let (reply, answer) = oneshot::channel();
        let shape = LookupShape::from_read(&read);
        if let Some(batch) = self.enqueue(&shape, PendingRead { read, reply }) {
            let trip = BatchRunner {
                batcher: self.clone(),
                shape,
                pool: pool.clone(),
                project: project.clone(),
                set_timeouts_sql: limit.cloned(),
                scope: place(),
                storage_usage: stored.clone(),
                is_finished: false,
            };
            // On a task of its own: whoever began it may go away, and the others still wait.
            tokio::spawn(trip.run(batch));
        }
        answer.await.unwrap_or_else(|_| Err(StoreError::Internal("a lookup was given up".into())))
    }

    /// Adds a read. What comes back is to be run at once: the first of its shape, or as many as fill a statement.
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

    /// What goes next, when a statement has come back.
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

    /// A panic elsewhere leaves groups that are still whole: no change is left half done.
    fn lock(&self) -> MutexGuard<'_, HashMap<LookupShape, PendingLookups>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error that each read would meet alone too: of a catalog that has changed, and of a database that is away, locked or
/// slow, for which each would wait as long again.
fn shared_error(error: &StoreError) -> Option<Box<dyn Fn() -> StoreError + Send>> {
    match error {
        StoreError::Stale => Some(Box::new(|| StoreError::Stale)),
        StoreError::Timeout => Some(Box::new(|| StoreError::Timeout)),
        StoreError::Unavailable(cause) => {
            let cause = cause.to_string();
            Some(Box::new(move || StoreError::Unavailable(cause.clone().into())))
        }
        _ => None,
    }
}

/// Statements of one shape, one after the other, until nobody waits.
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
        // It panicked, or the process stops: those who wait are told rather than kept waiting for it.
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
                Ok(answers) => {
                    for (waiting, answer) in waiting.into_iter().zip(answers) {
                        // Whoever asked may have gone away meanwhile.
                        drop(waiting.reply.send(answer));
                    }
                    return;
                }
                Err(error) => {
                    if let Some(of_each) = shared_error(&error) {
                        for waiting in waiting {
                            drop(waiting.reply.send(Err(of_each())));
                        }
                        return;
                    }
                }
            }
        }
        // The only one, or each by itself, since it may be the fault of one of them.
        let alone = waiting.into_iter().map(async |PendingRead { read, reply }| {
            drop(reply.send(runner.read(&read).await));
        });
        join_all(alone).await;
    }
}
