//! Reader threads.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, TryLockError},
};

use backend_data::{
    Catalog, ProjectRef, StoreError,
    store::{Answer, Read},
};
use futures::channel::oneshot::Sender;

use super::{
    Shared,
    connection::{Files, Open, Role},
    internal,
    queue::Queue,
    run,
};

type Reply<T> = Sender<Result<T, StoreError>>;

#[derive(Debug)]
pub(super) enum ReadTask {
    Catalog(ProjectRef, Reply<Option<Catalog>>),
    Rows(ProjectRef, Box<Read>, Reply<Answer>),
}

pub(super) fn work(shared: &Arc<Shared>, tasks: &Queue<ReadTask>) {
    let mut files = Files::new(Arc::clone(shared), Role::Reader);
    while let Some(task) = tasks.pop() {
        match task {
            ReadTask::Catalog(project, reply) => {
                let answer = with_file(&mut files, &project, |open| run::catalog(&open.connection));
                // Nobody may be waiting any more.
                let _ = reply.send(answer.map(Option::flatten));
            }
            ReadTask::Rows(_, _, reply) if reply.is_canceled() => {}
            ReadTask::Rows(project, read, reply) => {
                let answer = with_file(&mut files, &project, |open| {
                    open.allow(shared.options.statement_limit);
                    run::read(&open.connection, &read)
                });
                let _ = reply.send(answer.and_then(|answer| answer.ok_or(StoreError::Stale)));
            }
        }
    }
}

/// Files of the callers' own, for what takes less time than to hand it to a reader and back.
pub(super) struct AtHand(Vec<Mutex<Files>>);

impl fmt::Debug for AtHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtHand").field("callers", &self.0.len()).finish()
    }
}

impl AtHand {
    /// For so many callers at once.
    pub(super) fn new(shared: &Arc<Shared>, callers: usize) -> Self {
        Self((0..callers).map(|_| Mutex::new(Files::new(Arc::clone(shared), Role::Reader))).collect())
    }

    /// Looks a row up; nothing when it would have to wait for other callers.
    pub(super) fn read(
        &self,
        shared: &Shared,
        project: &ProjectRef,
        read: &Read,
    ) -> Option<Result<Answer, StoreError>> {
        let mut files = self.0.iter().find_map(|files| match files.try_lock() {
            Ok(files) => Some(files),
            // What panicked closed the file it was at.
            Err(TryLockError::Poisoned(files)) => Some(files.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        })?;
        let answer = with_file(&mut files, project, |open| {
            open.allow(shared.options.statement_limit);
            run::read(&open.connection, read)
        });
        Some(answer.and_then(|answer| answer.ok_or(StoreError::Stale)))
    }
}

/// Works on a project's file, if there is one. A panic costs the connection, not the thread.
fn with_file<T>(
    files: &mut Files,
    project: &ProjectRef,
    work: impl FnOnce(&Open) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let worked = catch_unwind(AssertUnwindSafe(|| match files.get(project)? {
        None => Ok(None),
        Some(open) => work(open).map(Some),
    }));
    worked.unwrap_or_else(|_| {
        files.close(project);
        Err(internal("a reader panicked"))
    })
}
