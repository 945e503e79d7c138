//! Reader threads.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use backend_data::{
    Catalog, ProjectRef, StoreError,
    store::{Answer, Read},
};
use futures::channel::oneshot::Sender;

use super::{
    Shared,
    connection::Open,
    internal,
    queue::{Priority, Queue},
    run,
};

type Reply<T> = Sender<Result<T, StoreError>>;

#[derive(Debug)]
pub(super) enum ReadTask {
    Catalog(Reply<Option<Catalog>>),
    Rows(Box<Read>, Reply<Answer>),
}

pub(super) fn work(shared: &Shared, queue: &Arc<Queue<ReadTask>>, priority: Priority) {
    while let Some((turn, tasks)) = queue.next(1, priority) {
        for task in tasks {
            match task {
                ReadTask::Catalog(reply) => {
                    let answer = with_file(shared, &turn.project, |open| run::catalog(&open.connection));
                    // Nobody may be waiting any more.
                    let _ = reply.send(answer.map(Option::flatten));
                }
                ReadTask::Rows(_, reply) if reply.is_canceled() => {}
                ReadTask::Rows(read, reply) => {
                    let _ = reply.send(rows(shared, &turn.project, &read));
                }
            }
        }
    }
}

fn rows(shared: &Shared, project: &ProjectRef, read: &Read) -> Result<Answer, StoreError> {
    let answer = with_file(shared, project, |open| {
        open.allow(shared.options.statement_limit);
        run::read(&open.connection, read)
    });
    answer.and_then(|answer| answer.ok_or(StoreError::Stale))
}

/// The largest answer that a caller makes by itself.
const MAX_AT_HAND_BYTES: usize = 64 * 1024;

/// How many callers may look rows up by themselves, which takes less time than to hand it to a reader and back.
#[derive(Debug)]
pub(super) struct AtHand(AtomicUsize);

impl AtHand {
    /// For so many callers at once.
    pub(super) fn new(callers: usize) -> Self {
        Self(AtomicUsize::new(callers))
    }

    /// Looks a row up; nothing when it would have to wait for other callers, or the row is large.
    pub(super) fn read(
        &self,
        shared: &Shared,
        project: &ProjectRef,
        read: &Read,
    ) -> Option<Result<Answer, StoreError>> {
        let one_less = |places: usize| places.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok()?;
        let limit = read.max_bytes.min(MAX_AT_HAND_BYTES);
        let answer = with_file(shared, project, |open| {
            open.allow(shared.options.statement_limit);
            run::small(&open.connection, read, limit)
        });
        self.0.fetch_add(1, Ordering::Relaxed);
        match answer {
            // A large row is for a reader: the caller's thread serves others too.
            Err(StoreError::AnswerTooLarge { .. }) if limit < read.max_bytes => None,
            answer => Some(answer.and_then(|answer| answer.ok_or(StoreError::Stale))),
        }
    }
}

/// Works on a project's file, if there is one. A panic costs the connection, not the thread.
fn with_file<T>(
    shared: &Shared,
    project: &ProjectRef,
    work: impl FnOnce(&Open) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let worked = catch_unwind(AssertUnwindSafe(|| {
        let Some(taken) = shared.shelf.take(shared, project)? else { return Ok(None) };
        let done = work(&taken.open);
        // One that is still in a transaction would show every later reader the rows of this moment.
        if taken.open.connection.is_autocommit() {
            shared.shelf.put(project, taken);
        }
        done.map(Some)
    }));
    worked.unwrap_or_else(|_| Err(internal("a reader panicked")))
}
