//! Writer threads: whatever waits for one project is committed together, each write in a savepoint of its own.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use backend_data::{
    ProjectRef, StoreError,
    store::{Answer, Import, SchemaChange, Write},
};
use futures::channel::oneshot::Sender;
use rusqlite::Connection;

use super::{Shared, connection::Open, files::Files, internal, queue::Queue, run, unavailable};

type Reply<T> = Sender<Result<T, StoreError>>;

/// How many tasks are taken at once.
const BATCH: usize = 512;
/// How long a transaction may grow before those in it are answered.
const GROUP_TIME: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) enum WriteTask {
    Create(ProjectRef, Reply<()>),
    Drop(ProjectRef, Reply<()>),
    Schema(ProjectRef, Box<SchemaChange>, Reply<()>),
    Rows(ProjectRef, Box<Write>, Reply<Answer>),
    Several(ProjectRef, Vec<Write>, Reply<Vec<Answer>>),
    Import(ProjectRef, Box<Import>, Reply<u64>),
}

/// A write that waits for its transaction.
struct Waiting {
    write: Box<Write>,
    reply: Reply<Answer>,
}

pub(super) fn work(shared: &Arc<Shared>, tasks: &Queue<WriteTask>) {
    let mut files = Files::new(Arc::clone(shared));
    while let Some(batch) = tasks.drain(BATCH) {
        let mut groups: Vec<(ProjectRef, VecDeque<Waiting>)> = Vec::new();
        for task in batch {
            match task {
                WriteTask::Rows(_, _, reply) if reply.is_canceled() => {}
                WriteTask::Rows(project, write, reply) => {
                    let waiting = Waiting { write, reply };
                    match groups.iter_mut().find(|(other, _)| *other == project) {
                        Some((_, group)) => group.push_back(waiting),
                        None => groups.push((project, VecDeque::from([waiting]))),
                    }
                }
                // What changes more than rows comes after the rows that were sent before it.
                other => {
                    groups.drain(..).for_each(|(project, group)| commit(shared, &mut files, &project, group));
                    alone(shared, &mut files, other);
                }
            }
        }
        groups.into_iter().for_each(|(project, group)| commit(shared, &mut files, &project, group));
    }
}

fn alone(shared: &Shared, files: &mut Files, task: WriteTask) {
    // Nobody may be waiting for an answer any more.
    match task {
        WriteTask::Create(project, reply) => {
            let _ = reply.send(guard(files, &project, |files| files.create(&project)));
        }
        WriteTask::Drop(project, reply) => {
            let _ = reply.send(guard(files, &project, |files| delete(shared, files, &project)));
        }
        WriteTask::Schema(project, change, reply) => {
            let _ = reply.send(guard(files, &project, |files| {
                let open = files.get(&project)?.ok_or(StoreError::Stale)?;
                open.allow(shared.options.statement_limit);
                let connection = &open.connection;
                transaction(connection, || run::change(connection, &change))?;
                open.version = change.catalog.version;
                Ok(())
            }));
        }
        WriteTask::Several(project, writes, reply) => {
            let _ = reply.send(guard(files, &project, |files| {
                let open = files.get(&project)?.ok_or(StoreError::Stale)?;
                // The time of one statement is the time of all of them: others wait for this writer.
                open.allow(shared.options.statement_limit);
                if writes.iter().any(|write| write.version != open.version) {
                    return Err(StoreError::Stale);
                }
                let connection = &open.connection;
                transaction(connection, || {
                    let mut size = 0;
                    let one = |(at, write): (usize, &Write)| {
                        let done = run::write(connection, write).and_then(|answer| {
                            size += answer.body.len();
                            let limit = write.max_bytes;
                            if size > limit { Err(StoreError::AnswerTooLarge { limit }) } else { Ok(answer) }
                        });
                        done.map_err(|source| StoreError::OneOf { at, source: Box::new(source) })
                    };
                    writes.iter().enumerate().map(one).collect()
                })
            }));
        }
        WriteTask::Import(_, _, reply) if reply.is_canceled() => {}
        WriteTask::Import(project, import, reply) => {
            let stopped = || reply.is_canceled();
            let done =
                guard(files, &project, |files| self::import(shared, files, &project, *import, stopped));
            let _ = reply.send(done);
        }
        WriteTask::Rows(project, write, reply) => {
            commit(shared, files, &project, VecDeque::from([Waiting { write, reply }]));
        }
    }
}

/// Writes portion after portion in one transaction. Whoever asked may go away; then nothing is kept.
fn import(
    shared: &Shared,
    files: &mut Files,
    project: &ProjectRef,
    import: Import,
    stopped: impl Fn() -> bool,
) -> Result<u64, StoreError> {
    let open = files.get(project)?.ok_or(StoreError::Stale)?;
    let Import { mut write, portions } = import;
    if write.version != open.version {
        return Err(StoreError::Stale);
    }
    open.allow(shared.options.statement_limit);
    transaction(&open.connection, || {
        let mut rows = 0;
        for portion in portions {
            if stopped() {
                return Err(unavailable("nobody waits for the import any more"));
            }
            write.rows = Some(portion.map_err(|error| StoreError::Refused(Box::new(error)))?);
            open.allow(shared.options.statement_limit);
            rows += run::write(&open.connection, &write)?.rows;
        }
        open.allow(shared.options.statement_limit);
        Ok(rows)
    })
}

/// Runs one task. A panic costs the connection, not the thread.
fn guard<T>(
    files: &mut Files,
    project: &ProjectRef,
    work: impl FnOnce(&mut Files) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(|| work(files))).unwrap_or_else(|_| {
        files.close(project);
        Err(internal("a writer panicked"))
    })
}

fn transaction<T>(
    connection: &Connection,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(run::failed)?;
    let done = work().and_then(|done| connection.execute_batch("COMMIT").map_err(run::failed).map(|()| done));
    if done.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(run::failed)?;
    }
    done
}

/// Commits every write of a group, in as few transactions as it takes, and then answers.
fn commit(shared: &Shared, files: &mut Files, project: &ProjectRef, mut group: VecDeque<Waiting>) {
    while !group.is_empty() {
        let before = group.len();
        let outcome = guard(files, project, |files| {
            let open = files.get(project)?.ok_or(StoreError::Stale)?;
            some(shared, open, &mut group);
            Ok(())
        });
        // A round answers at least one; one that could not even begin answers all.
        if let Err(error) = outcome {
            refuse(&mut group, &error);
        } else if group.len() == before {
            refuse(&mut group, &internal("a round of writes made no progress"));
        }
    }
}

fn refuse(group: &mut VecDeque<Waiting>, error: &StoreError) {
    for Waiting { reply, .. } in group.drain(..) {
        let _ = reply.send(Err(match error {
            StoreError::Stale => StoreError::Stale,
            StoreError::Timeout => StoreError::Timeout,
            StoreError::Contended(cause) => StoreError::Contended(cause.to_string().into()),
            other => unavailable(other.to_string()),
        }));
    }
}

/// One transaction: runs the first writes of the group, commits and answers them.
fn some(shared: &Shared, open: &Open, group: &mut VecDeque<Waiting>) {
    let connection = &open.connection;
    let begun = Instant::now();
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE").map_err(run::failed) {
        return refuse(group, &error);
    }
    let alone = group.len() == 1;
    let mut results: Vec<Result<Answer, StoreError>> = Vec::with_capacity(group.len());
    for waiting in group.iter() {
        open.allow(shared.options.statement_limit);
        let result = if waiting.write.version == open.version {
            if alone { run::write(connection, &waiting.write) } else { nested(connection, &waiting.write) }
        } else {
            Err(StoreError::Stale)
        };
        let lost = connection.is_autocommit();
        results.push(result);
        if lost {
            // SQLite gave up the whole transaction, for a full disk or at a time limit: whatever went before
            // runs again, without the write that did it.
            if let (Some(Err(error)), Some(Waiting { reply, .. })) =
                (results.pop(), group.remove(results.len()))
            {
                let _ = reply.send(Err(error));
            }
            return;
        }
        if begun.elapsed() > GROUP_TIME {
            break;
        }
    }
    open.allow(shared.options.statement_limit);
    let end = if results.iter().any(Result::is_ok) { "COMMIT" } else { "ROLLBACK" };
    let ended = connection.execute_batch(end).map_err(run::failed);
    if !connection.is_autocommit() {
        // Nothing may stay half done in front of the next group.
        let _ = connection.execute_batch("ROLLBACK");
    }
    let failure = ended.err().map(|error| error.to_string());
    for result in results {
        let Some(Waiting { reply, .. }) = group.pop_front() else { break };
        let _ = reply.send(match (&failure, result) {
            (Some(failure), Ok(_)) => Err(unavailable(failure.clone())),
            (_, result) => result,
        });
    }
}

/// A write in a savepoint: if it fails, only it is undone.
fn nested(connection: &Connection, write: &Write) -> Result<Answer, StoreError> {
    let cached = |sql| connection.prepare_cached(sql).and_then(|mut s| s.execute([])).map_err(run::failed);
    cached("SAVEPOINT one")?;
    let result = run::write(connection, write);
    if result.is_err() {
        if connection.is_autocommit() {
            return result;
        }
        cached("ROLLBACK TO one")?;
    }
    cached("RELEASE one")?;
    result
}

fn delete(shared: &Shared, files: &mut Files, project: &ProjectRef) -> Result<(), StoreError> {
    files.close(project);
    let path = shared.path(project);
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.clone().into_os_string();
        name.push(suffix);
        match std::fs::remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unavailable(error)),
            _ => {}
        }
    }
    shared.shelf.forget(project);
    Ok(())
}
