//! Writer threads: whatever waits for one project is committed together, each write in a savepoint of its own.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use backend_data::{
    ProjectRef, StoreError,
    store::{Answer, Import, OutboxRecord, SchemaChange, Write},
};
use futures::channel::oneshot::Sender;
use rusqlite::Connection;

use super::{
    Shared,
    connection::Open,
    files::File,
    internal, outbox,
    queue::{Priority, Queue, Turn},
    run, unavailable,
};

type Reply<T> = Sender<Result<T, StoreError>>;

/// How many tasks are taken at once.
const BATCH: usize = 512;
/// How long a transaction may grow before those in it are answered.
const GROUP_TIME: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) enum WriteTask {
    Create(Reply<()>),
    Drop(Reply<()>),
    Schema(Box<SchemaChange>, Reply<()>),
    Rows(Box<Write>, Reply<Answer>),
    Several(Vec<Write>, Reply<Vec<Answer>>),
    Import(Box<Import>, Reply<u64>),
    Stored(Reply<u64>),
    Outbox(Reply<Vec<OutboxRecord>>),
    ClearOutbox(Vec<String>, Reply<()>),
}

/// A write that waits for its transaction.
struct Waiting {
    write: Box<Write>,
    reply: Reply<Answer>,
}

pub(super) fn work(shared: &Arc<Shared>, queue: &Arc<Queue<WriteTask>>, priority: Priority) {
    while let Some((turn, tasks)) = queue.next(BATCH, priority) {
        in_order(shared, turn, tasks, true);
    }
}

/// Does what waits for one project, in its order. An import may take minutes: it goes on with what comes after it on a
/// thread of its own, and the project's turn with it.
fn in_order(shared: &Arc<Shared>, turn: Turn<WriteTask>, mut tasks: VecDeque<WriteTask>, shares: bool) {
    let mut file = File::new(shared, &turn.project);
    let mut group: VecDeque<Waiting> = VecDeque::new();
    while let Some(task) = tasks.pop_front() {
        match task {
            WriteTask::Rows(_, reply) if reply.is_canceled() => continue,
            WriteTask::Rows(write, reply) => {
                group.push_back(Waiting { write, reply });
                continue;
            }
            _ => {}
        }
        // What changes more than rows comes after the rows that were sent before it.
        commit(shared, &mut file, std::mem::take(&mut group));
        if shares && matches!(task, WriteTask::Import(..)) {
            drop(file);
            tasks.push_front(task);
            let (its, thread) = (Arc::clone(shared), thread::Builder::new().name("rows-import".to_owned()));
            shared.imports.begin(|| thread.spawn(move || in_order(&its, turn, tasks, false)));
            return;
        }
        alone(shared, &mut file, task);
    }
    commit(shared, &mut file, group);
    // The file is put back before the turn ends.
    drop(file);
    drop(turn);
}

/// The threads of imports.
#[derive(Debug, Default)]
pub(super) struct Imports(Mutex<Vec<JoinHandle<()>>>);

impl Imports {
    /// Begins one. Where no thread can be had, whoever waits for it is told by its being dropped.
    fn begin(&self, spawn: impl FnOnce() -> io::Result<JoinHandle<()>>) {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.extend(spawn().ok());
    }

    /// Waits until all have ended.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A thread that panicked has nothing left to finish.
            let _ = thread.join();
        }
    }
}

fn alone(shared: &Shared, file: &mut File<'_>, task: WriteTask) {
    // Nobody may be waiting for an answer any more.
    match task {
        WriteTask::Create(reply) => {
            let _ = reply.send(guard(file, File::create));
        }
        WriteTask::Drop(reply) => {
            let _ = reply.send(guard(file, |file| delete(shared, file)));
        }
        WriteTask::Schema(change, reply) => {
            let project = file.project().clone();
            let _ = reply.send(guard(file, |file| {
                let open = file.get()?.ok_or(StoreError::Stale)?;
                open.allow(shared.options.statement_limit);
                let connection = &open.connection;
                transaction(connection, || {
                    run::has_room(connection, change.max_stored)?;
                    run::change(connection, &change)?;
                    outbox::add(shared, &project, connection, &change.outbox, None)
                })?;
                open.forget_room();
                open.version = change.catalog.version;
                Ok(())
            }));
        }
        WriteTask::Several(writes, reply) => {
            let _ = reply.send(guard(file, |file| several(shared, file, &writes)));
        }
        WriteTask::Import(_, reply) if reply.is_canceled() => {}
        WriteTask::Import(import, reply) => {
            let stopped = || reply.is_canceled();
            let done = guard(file, |file| self::import(shared, file, *import, stopped));
            let _ = reply.send(done);
        }
        WriteTask::Stored(reply) => {
            let _ = reply.send(guard(file, |file| {
                let open = file.get()?.ok_or(StoreError::Stale)?;
                open.allow(shared.options.statement_limit);
                run::stored(&open.connection)
            }));
        }
        WriteTask::Outbox(reply) => {
            let project = file.project().clone();
            let _ = reply.send(guard(file, |file| match file.get()? {
                Some(open) => outbox::oldest(shared, &project, &open.connection),
                None => Ok(Vec::new()),
            }));
        }
        WriteTask::ClearOutbox(ids, reply) => {
            let project = file.project().clone();
            let _ = reply.send(guard(file, |file| match file.get()? {
                Some(open) => {
                    open.allow(shared.options.statement_limit);
                    let connection = &open.connection;
                    transaction(connection, || outbox::clear(shared, &project, connection, &ids))
                }
                None => Ok(()),
            }));
        }
        WriteTask::Rows(write, reply) => commit(shared, file, VecDeque::from([Waiting { write, reply }])),
    }
}

/// Runs several writes in one transaction.
fn several(shared: &Shared, file: &mut File<'_>, writes: &[Write]) -> Result<Vec<Answer>, StoreError> {
    let project = file.project().clone();
    let open = file.get()?.ok_or(StoreError::Stale)?;
    // The time of one statement is the time of all of them: others of the project wait.
    open.allow(shared.options.statement_limit);
    if writes.iter().any(|write| write.version != open.version) {
        return Err(StoreError::Stale);
    }
    let connection = &open.connection;
    transaction(connection, || {
        let mut size = 0;
        let one = |(at, write): (usize, &Write)| {
            let done = recorded(shared, &project, open, write).and_then(|answer| {
                size += answer.body.len();
                let limit = write.max_bytes;
                if size > limit { Err(StoreError::AnswerTooLarge { limit }) } else { Ok(answer) }
            });
            done.map_err(|source| StoreError::OneOf { at, source: Box::new(source) })
        };
        writes.iter().enumerate().map(one).collect()
    })
}

/// Writes portion after portion in one transaction. Whoever asked may go away; then nothing is kept.
fn import(
    shared: &Shared,
    file: &mut File<'_>,
    import: Import,
    stopped: impl Fn() -> bool,
) -> Result<u64, StoreError> {
    let project = file.project().clone();
    let open = file.get()?.ok_or(StoreError::Stale)?;
    let Import { mut write, portions, outbox } = import;
    if write.version != open.version {
        return Err(StoreError::Stale);
    }
    open.allow(shared.options.statement_limit);
    transaction(&open.connection, || {
        let mut rows = 0;
        let refused = |error| StoreError::Refused(Box::new(error));
        for portion in portions().map_err(refused)? {
            if stopped() {
                return Err(unavailable("nobody waits for the import any more"));
            }
            write.rows = Some(portion.map_err(refused)?);
            open.allow(shared.options.statement_limit);
            open.admit(&write)?;
            rows += run::write(&open.connection, &write)?.rows;
        }
        open.allow(shared.options.statement_limit);
        outbox::add(shared, &project, &open.connection, &outbox, Some(rows))?;
        Ok(rows)
    })
}

/// Runs one task. A panic costs the connection, not the thread.
fn guard<'s, T>(
    file: &mut File<'s>,
    work: impl FnOnce(&mut File<'s>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(|| work(file))).unwrap_or_else(|_| {
        file.close();
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
fn commit(shared: &Shared, file: &mut File<'_>, mut group: VecDeque<Waiting>) {
    while !group.is_empty() {
        let before = group.len();
        let outcome = guard(file, |file| {
            let project = file.project().clone();
            let open = file.get()?.ok_or(StoreError::Stale)?;
            some(shared, &project, open, &mut group);
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
fn some(shared: &Shared, project: &ProjectRef, open: &Open, group: &mut VecDeque<Waiting>) {
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
            let write = || recorded(shared, project, open, &waiting.write);
            if alone { write() } else { nested(connection, write) }
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

/// A write and what it leaves in the outbox. The caller undoes it when this fails.
fn recorded(shared: &Shared, project: &ProjectRef, open: &Open, write: &Write) -> Result<Answer, StoreError> {
    open.admit(write)?;
    let connection = &open.connection;
    let answer = run::write(connection, write)?;
    outbox::add(shared, project, connection, &write.outbox, Some(answer.rows))?;
    Ok(answer)
}

/// A write in a savepoint: if it fails, only it is undone.
fn nested(
    connection: &Connection,
    write: impl FnOnce() -> Result<Answer, StoreError>,
) -> Result<Answer, StoreError> {
    let cached = |sql| connection.prepare_cached(sql).and_then(|mut s| s.execute([])).map_err(run::failed);
    cached("SAVEPOINT one")?;
    let result = write();
    if result.is_err() {
        if connection.is_autocommit() {
            return result;
        }
        cached("ROLLBACK TO one")?;
    }
    cached("RELEASE one")?;
    result
}

fn delete(shared: &Shared, file: &mut File<'_>) -> Result<(), StoreError> {
    file.close();
    let path = shared.path(file.project());
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.clone().into_os_string();
        name.push(suffix);
        match std::fs::remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unavailable(error)),
            _ => {}
        }
    }
    shared.shelf.forget(file.project());
    Ok(())
}
