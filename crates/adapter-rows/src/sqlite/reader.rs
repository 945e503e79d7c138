//! Reader threads.

use std::panic::{AssertUnwindSafe, catch_unwind};

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

pub(super) fn work(shared: &Shared, tasks: &Queue<ReadTask>) {
    let mut files = Files::new(shared, Role::Reader);
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

/// Works on a project's file, if there is one. A panic costs the connection, not the thread.
fn with_file<T>(
    files: &mut Files<'_>,
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
