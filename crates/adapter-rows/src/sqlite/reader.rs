//! Reader threads, and reads of one row on the caller's thread.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use backend_data::{
    Catalog, ProjectRef, StoreError,
    store::{Read, StatementResult},
};
use futures::channel::oneshot::Sender;

use super::{
    SharedState,
    connection::FileConnection,
    execute, internal_error,
    queue::{Priority, Queue},
};

type Reply<T> = Sender<Result<T, StoreError>>;

#[derive(Debug)]
pub(super) enum ReadTask {
    Catalog(Reply<Option<Catalog>>),
    Rows(Box<Read>, Reply<StatementResult>),
}

pub(super) fn run_reader(shared: &SharedState, queue: &Arc<Queue<ReadTask>>, priority: Priority) {
    while let Some((mut permit, tasks)) = queue.pop_batch(1, priority) {
        for task in tasks {
            let begun = Instant::now();
            match task {
                ReadTask::Catalog(reply) => {
                    let catalog =
                        with_connection(shared, &permit.project, |open| execute::catalog(&open.connection));
                    // The caller may be gone.
                    let _ = reply.send(catalog.map(Option::flatten));
                }
                ReadTask::Rows(_, reply) if reply.is_canceled() => {}
                ReadTask::Rows(read, reply) => {
                    let _ = reply.send(read_rows(shared, &permit.project, &read));
                }
            }
            permit.record_statement(begun.elapsed());
        }
    }
}

fn read_rows(shared: &SharedState, project: &ProjectRef, read: &Read) -> Result<StatementResult, StoreError> {
    let result = with_connection(shared, project, |open| {
        open.set_statement_timeout(shared.options.statement_timeout);
        execute::read(&open.connection, read)
    });
    result.and_then(|result| result.ok_or(StoreError::Stale))
}

/// Maximum size in bytes of a row that a caller reads on its own thread.
const MAX_INLINE_BYTES: usize = 64 * 1024;

/// Reads of one row on the caller's thread, which take less time than handing them to a reader thread and back. It
/// counts how many more callers may do so at once.
#[derive(Debug)]
pub(super) struct InlineReader(AtomicUsize);

impl InlineReader {
    /// Allows this number of callers at once.
    pub(super) fn new(callers: usize) -> Self {
        Self(AtomicUsize::new(callers))
    }

    /// Reads a row; `None` if too many callers do so already, or the row is large.
    pub(super) fn try_read(
        &self,
        shared: &SharedState,
        project: &ProjectRef,
        read: &Read,
    ) -> Option<Result<StatementResult, StoreError>> {
        let one_less = |callers: usize| callers.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok()?;
        let limit = read.max_bytes.min(MAX_INLINE_BYTES);
        let result = with_connection(shared, project, |open| {
            open.set_statement_timeout(shared.options.statement_timeout);
            execute::read_small(&open.connection, read, limit)
        });
        self.0.fetch_add(1, Ordering::Relaxed);
        match result {
            // A large row is left to a reader thread, since the caller's thread serves others too.
            Err(StoreError::ResultTooLarge { .. }) if limit < read.max_bytes => None,
            result => Some(result.and_then(|result| result.ok_or(StoreError::Stale))),
        }
    }
}

/// Runs `work` on a connection to a project's file, if there is one. A panic closes the connection and keeps the
/// thread.
fn with_connection<T>(
    shared: &SharedState,
    project: &ProjectRef,
    work: impl FnOnce(&FileConnection) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let worked = catch_unwind(AssertUnwindSafe(|| {
        let Some(lease) = shared.read_connections.acquire(shared, project)? else { return Ok(None) };
        let done = work(&lease.open);
        // A connection that is still in a transaction would show every later reader the rows of this one.
        if lease.open.connection.is_autocommit() {
            shared.read_connections.release(project, lease);
        }
        done.map(Some)
    }));
    worked.unwrap_or_else(|_| Err(internal_error("a reader panicked")))
}
