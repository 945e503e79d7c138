//! Writer threads. The writes that wait for one project are committed together. A write that fails is undone alone: by the
//! savepoint of each, or, as long as failures are rare, by writing the group anew with savepoints.

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
    store::{Import, OutboxRecord, SchemaChange, StatementResult, Write},
};
use futures::channel::oneshot::Sender;
use rusqlite::Connection;

use super::{
    SharedState,
    connection::FileConnection,
    execute, internal_error, outbox,
    queue::{Priority, Queue, WorkPermit},
    unavailable_error,
    write_connections::WriteLease,
};

type Reply<T> = Sender<Result<T, StoreError>>;

/// Maximum number of tasks that a writer takes at once.
const MAX_BATCH: usize = 512;
/// Time after which a transaction takes no more writes and is committed.
const MAX_TRANSACTION_TIME: Duration = Duration::from_millis(20);
/// Time after which a writer leaves the rest of its tasks to the project's next turn.
const MAX_TURN_TIME: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) enum WriteTask {
    Create(Reply<()>),
    Drop(Reply<()>),
    Schema(Box<SchemaChange>, Reply<()>),
    Rows(Box<Write>, Reply<StatementResult>),
    Batch(Vec<Write>, Reply<Vec<StatementResult>>),
    Import(Box<Import>, Reply<u64>),
    StoredBytes(Reply<u64>),
    Outbox(Reply<Vec<OutboxRecord>>),
    ClearOutbox(Vec<String>, Reply<()>),
}

/// A write that waits to be committed.
struct PendingWrite {
    write: Box<Write>,
    reply: Reply<StatementResult>,
}

pub(super) fn run_writer(shared: &Arc<SharedState>, queue: &Arc<Queue<WriteTask>>, priority: Priority) {
    while let Some((permit, tasks)) = queue.pop_batch(MAX_BATCH, priority) {
        process_tasks(shared, permit, tasks);
    }
}

/// Runs the tasks of one project in order, for as long as a turn may take.
fn process_tasks(
    shared: &Arc<SharedState>,
    mut permit: WorkPermit<WriteTask>,
    mut tasks: VecDeque<WriteTask>,
) {
    let mut file = WriteLease::new(shared, &permit.project);
    let mut group: VecDeque<PendingWrite> = VecDeque::new();
    let mut is_over = false;
    while !is_over && let Some(task) = tasks.pop_front() {
        match task {
            WriteTask::Rows(_, reply) if reply.is_canceled() => continue,
            WriteTask::Import(_, reply) if reply.is_canceled() => continue,
            WriteTask::Batch(_, reply) if reply.is_canceled() => continue,
            WriteTask::Rows(write, reply) => {
                group.push_back(PendingWrite { write, reply });
                continue;
            }
            _ => {}
        }
        // Keeps the order: other tasks run after the writes that were sent before them.
        is_over = commit_group(shared, &mut file, &mut group, &mut permit);
        if is_over {
            tasks.push_front(task);
            break;
        }
        if let WriteTask::Import(import, reply) = task {
            permit.give_back(tasks);
            drop(file);
            return spawn_import(shared, permit, import, reply);
        }
        run_task(shared, &mut file, task, &mut permit);
        is_over = permit.elapsed() > MAX_TURN_TIME;
    }
    if !is_over {
        commit_group(shared, &mut file, &mut group, &mut permit);
    }
    let rest = group.into_iter().map(|PendingWrite { write, reply }| WriteTask::Rows(write, reply));
    permit.give_back(rest.chain(tasks).collect());
    // The connection is put back before another thread gets the permit.
    drop(file);
    drop(permit);
}

/// Moves an import, which may take minutes, to a thread of its own. It keeps the project's permit, and its share gets the
/// thread back.
fn spawn_import(
    shared: &Arc<SharedState>,
    permit: WorkPermit<WriteTask>,
    import: Box<Import>,
    reply: Reply<u64>,
) {
    let (state, permit) = (Arc::clone(shared), permit.detach());
    let thread = thread::Builder::new().name("rows-import".to_owned());
    shared.imports.spawn(|| {
        thread.spawn(move || {
            let mut file = WriteLease::new(&state, &permit.project);
            run_import(&state, &mut file, *import, reply);
            drop(file);
            drop(permit);
        })
    });
}

fn run_import(shared: &SharedState, file: &mut WriteLease<'_>, import: Import, reply: Reply<u64>) {
    let is_canceled = || reply.is_canceled();
    let done = catch_panic(file, |file| self::import(shared, file, import, is_canceled));
    // The caller may be gone.
    let _ = reply.send(done);
}

/// The threads of imports.
#[derive(Debug, Default)]
pub(super) struct ImportThreads(Mutex<Vec<JoinHandle<()>>>);

impl ImportThreads {
    /// Starts a thread. If that fails, its tasks are dropped, and with them the senders that callers wait for.
    fn spawn(&self, spawn: impl FnOnce() -> io::Result<JoinHandle<()>>) {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        threads.extend(spawn().ok());
    }

    /// Waits until all threads have ended.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // An error means that the thread panicked, and has nothing left to finish.
            let _ = thread.join();
        }
    }
}

fn run_task(
    shared: &SharedState,
    file: &mut WriteLease<'_>,
    task: WriteTask,
    permit: &mut WorkPermit<WriteTask>,
) {
    // In each arm, the caller may be gone when the result is sent.
    match task {
        WriteTask::Create(reply) => {
            let _ = reply.send(catch_panic(file, WriteLease::create));
        }
        WriteTask::Drop(reply) => {
            let _ = reply.send(catch_panic(file, |file| delete_files(shared, file)));
        }
        WriteTask::Schema(change, reply) => {
            let project = file.project().clone();
            let _ = reply.send(catch_panic(file, |file| {
                let open = file.find_connection()?.ok_or(StoreError::Stale)?;
                open.set_statement_timeout(shared.options.statement_timeout);
                let connection = &open.connection;
                in_transaction(
                    connection,
                    |took| permit.record_statement(took),
                    || {
                        execute::ensure_capacity(connection, change.max_stored_bytes)?;
                        execute::apply_schema_change(connection, &change)?;
                        outbox::add(shared, &project, connection, &change.outbox, None)
                    },
                )?;
                open.invalidate_capacity();
                open.version = change.catalog.version;
                Ok(())
            }));
        }
        WriteTask::Batch(writes, reply) => {
            let _ = reply.send(catch_panic(file, |file| write_batch(shared, file, &writes, permit)));
        }
        WriteTask::Import(import, reply) => run_import(shared, file, *import, reply),
        WriteTask::StoredBytes(reply) => {
            let _ = reply.send(catch_panic(file, |file| {
                let open = file.find_connection()?.ok_or(StoreError::Stale)?;
                open.set_statement_timeout(shared.options.statement_timeout);
                let begun = Instant::now();
                let stored = execute::stored_bytes(&open.connection);
                permit.record_statement(begun.elapsed());
                stored
            }));
        }
        WriteTask::Outbox(reply) => {
            let project = file.project().clone();
            let _ = reply.send(catch_panic(file, |file| match file.find_connection()? {
                Some(open) => outbox::read_oldest(shared, &project, &open.connection),
                None => Ok(Vec::new()),
            }));
        }
        WriteTask::ClearOutbox(ids, reply) => {
            let project = file.project().clone();
            let _ = reply.send(catch_panic(file, |file| match file.find_connection()? {
                Some(open) => {
                    open.set_statement_timeout(shared.options.statement_timeout);
                    let connection = &open.connection;
                    let record = |took| permit.record_statement(took);
                    in_transaction(connection, record, || outbox::clear(shared, &project, connection, &ids))
                }
                None => Ok(()),
            }));
        }
        WriteTask::Rows(write, reply) => {
            commit_group(shared, file, &mut VecDeque::from([PendingWrite { write, reply }]), permit);
        }
    }
}

/// Runs the writes of a batch in one transaction.
fn write_batch(
    shared: &SharedState,
    file: &mut WriteLease<'_>,
    writes: &[Write],
    permit: &mut WorkPermit<WriteTask>,
) -> Result<Vec<StatementResult>, StoreError> {
    let project = file.project().clone();
    let open = file.find_connection()?.ok_or(StoreError::Stale)?;
    // All of them have the time of one statement, since other writes to the project wait.
    open.set_statement_timeout(shared.options.statement_timeout);
    if writes.iter().any(|write| write.version != open.version) {
        return Err(StoreError::Stale);
    }
    let connection = &open.connection;
    in_transaction(
        connection,
        |took| permit.record_statement(took),
        || {
            let mut size = 0;
            let one = |(at, write): (usize, &Write)| {
                let done = write_with_outbox(shared, &project, open, write).and_then(|result| {
                    size += result.body.len();
                    let limit = write.max_bytes;
                    if size > limit { Err(StoreError::ResultTooLarge { limit }) } else { Ok(result) }
                });
                done.map_err(|source| StoreError::BatchWriteFailed { at, source: Box::new(source) })
            };
            writes.iter().enumerate().map(one).collect()
        },
    )
}

/// Writes the batches of an import in one transaction. If the caller is gone, nothing is kept.
fn import(
    shared: &SharedState,
    file: &mut WriteLease<'_>,
    import: Import,
    is_canceled: impl Fn() -> bool,
) -> Result<u64, StoreError> {
    let project = file.project().clone();
    let open = file.find_connection()?.ok_or(StoreError::Stale)?;
    let Import { mut write, batches, outbox } = import;
    if write.version != open.version {
        return Err(StoreError::Stale);
    }
    open.set_statement_timeout(shared.options.statement_timeout);
    // The time of an import does not count.
    in_transaction(
        &open.connection,
        |_| {},
        || {
            let mut rows = 0;
            let refused = |error| StoreError::ImportRejected(Box::new(error));
            for batch in batches().map_err(refused)? {
                if is_canceled() {
                    return Err(unavailable_error("the import was canceled"));
                }
                write.rows = Some(batch.map_err(refused)?);
                open.set_statement_timeout(shared.options.statement_timeout);
                open.reserve_capacity(&write)?;
                rows += execute::write(&open.connection, &write)?.rows;
            }
            open.set_statement_timeout(shared.options.statement_timeout);
            outbox::add(shared, &project, &open.connection, &outbox, Some(rows))?;
            Ok(rows)
        },
    )
}

/// Runs `work`. A panic closes the connection and keeps the thread.
fn catch_panic<'s, T>(
    file: &mut WriteLease<'s>,
    work: impl FnOnce(&mut WriteLease<'s>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(|| work(file))).unwrap_or_else(|_| {
        file.close();
        Err(internal_error("a writer panicked"))
    })
}

/// Runs `work` in a transaction, and records its time. That of the commit is the disk's.
fn in_transaction<T>(
    connection: &Connection,
    record_statement: impl FnOnce(Duration),
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(execute::to_store_error)?;
    let begun = Instant::now();
    let done = work();
    record_statement(begun.elapsed());
    let done = done
        .and_then(|done| connection.execute_batch("COMMIT").map_err(execute::to_store_error).map(|()| done));
    if done.is_err() {
        roll_back(connection)?;
    }
    done
}

/// Undoes the transaction, if SQLite has not done so by itself.
fn roll_back(connection: &Connection) -> Result<(), StoreError> {
    if connection.is_autocommit() {
        return Ok(());
    }
    connection.execute_batch("ROLLBACK").map_err(execute::to_store_error)
}

/// Commits the writes of a group in as few transactions as possible, and sends their results. Returns true if the turn is over;
/// the writes that are left then stay in the group.
fn commit_group(
    shared: &SharedState,
    file: &mut WriteLease<'_>,
    group: &mut VecDeque<PendingWrite>,
    permit: &mut WorkPermit<WriteTask>,
) -> bool {
    while !group.is_empty() {
        let before = group.len();
        let outcome = catch_panic(file, |file| {
            let project = file.project().clone();
            let open = file.find_connection()?.ok_or(StoreError::Stale)?;
            Ok(commit_first_writes(shared, &project, open, group, |took| permit.record_statement(took)))
        });
        match outcome {
            Err(error) => fail_group(group, &error),
            // The next round has savepoints.
            Ok(Round::Undone) => {}
            // Each other round settles at least one write, or all of them if it could not begin.
            Ok(Round::Settled) if group.len() == before => {
                fail_group(group, &internal_error("a round of writes made no progress"));
            }
            Ok(Round::Settled) => {}
        }
        if permit.elapsed() > MAX_TURN_TIME {
            return true;
        }
    }
    false
}

fn fail_group(group: &mut VecDeque<PendingWrite>, error: &StoreError) {
    for PendingWrite { reply, .. } in group.drain(..) {
        let _ = reply.send(Err(match error {
            StoreError::Stale => StoreError::Stale,
            StoreError::Timeout => StoreError::Timeout,
            StoreError::WriteConflict(source) => StoreError::WriteConflict(source.to_string().into()),
            other => unavailable_error(other.to_string()),
        }));
    }
}

/// The outcome of one transaction of a group.
enum Round {
    /// Writes were committed or failed, and their callers have the results.
    Settled,
    /// A write without a savepoint failed after others. All of them are still in the group: whoever hears of a failure may look at
    /// what caused it, which must be committed by then.
    Undone,
}

/// Runs one transaction: the first writes of the group, their commit, and the sending of their results.
fn commit_first_writes(
    shared: &SharedState,
    project: &ProjectRef,
    open: &FileConnection,
    group: &mut VecDeque<PendingWrite>,
    mut record_statement: impl FnMut(Duration),
) -> Round {
    let connection = &open.connection;
    let begun = Instant::now();
    let mut last = begun;
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE").map_err(execute::to_store_error) {
        fail_group(group, &error);
        return Round::Settled;
    }
    // Without others, a write that fails undoes its transaction.
    let with_savepoints = group.len() > 1 && open.expects_failures();
    let mut results: Vec<Result<StatementResult, StoreError>> = Vec::with_capacity(group.len());
    for waiting in group.iter() {
        open.set_statement_timeout(shared.options.statement_timeout);
        let is_stale = waiting.write.version != open.version;
        let result = if is_stale {
            Err(StoreError::Stale)
        } else {
            let write = || write_with_outbox(shared, project, open, &waiting.write);
            if with_savepoints { in_savepoint(connection, write) } else { write() }
        };
        let now = Instant::now();
        record_statement(now - last);
        last = now;
        // A stale write has touched nothing.
        if result.is_err() && !is_stale {
            open.record_failure();
        }
        let is_rolled_back = connection.is_autocommit();
        if result.is_err() && !is_stale && !is_rolled_back && !with_savepoints && group.len() > 1 {
            // If this fails, so does the next BEGIN.
            let _ = roll_back(connection);
            return Round::Undone;
        }
        results.push(result);
        if is_rolled_back {
            // SQLite rolled back the whole transaction, for a full disk or at the time limit. The writes before run again,
            // without the one that caused it.
            if let (Some(Err(error)), Some(PendingWrite { reply, .. })) =
                (results.pop(), group.remove(results.len()))
            {
                let _ = reply.send(Err(error));
            }
            return Round::Settled;
        }
        if now - begun > MAX_TRANSACTION_TIME {
            break;
        }
    }
    open.set_statement_timeout(shared.options.statement_timeout);
    let end = if results.iter().any(Result::is_ok) { "COMMIT" } else { "ROLLBACK" };
    let ended = connection.execute_batch(end).map_err(execute::to_store_error);
    // The next group must not start within a failed transaction.
    let _ = roll_back(connection);
    let failure = ended.err().map(|error| error.to_string());
    for result in results {
        let Some(PendingWrite { reply, .. }) = group.pop_front() else { break };
        let _ = reply.send(match (&failure, result) {
            (Some(failure), Ok(_)) => Err(unavailable_error(failure.clone())),
            (_, result) => result,
        });
    }
    Round::Settled
}

/// Runs a write and adds its outbox entries. If this fails, the caller undoes it.
fn write_with_outbox(
    shared: &SharedState,
    project: &ProjectRef,
    open: &FileConnection,
    write: &Write,
) -> Result<StatementResult, StoreError> {
    open.reserve_capacity(write)?;
    let connection = &open.connection;
    let result = execute::write(connection, write)?;
    outbox::add(shared, project, connection, &write.outbox, Some(result.rows))?;
    Ok(result)
}

/// Runs a write in a savepoint, so that a failure undoes only this write.
fn in_savepoint(
    connection: &Connection,
    write: impl FnOnce() -> Result<StatementResult, StoreError>,
) -> Result<StatementResult, StoreError> {
    let cached =
        |sql| connection.prepare_cached(sql).and_then(|mut s| s.execute([])).map_err(execute::to_store_error);
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

fn delete_files(shared: &SharedState, file: &mut WriteLease<'_>) -> Result<(), StoreError> {
    file.close();
    let path = shared.path(file.project());
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.clone().into_os_string();
        name.push(suffix);
        match std::fs::remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unavailable_error(error)),
            _ => {}
        }
    }
    shared.read_connections.evict(file.project());
    Ok(())
}

#[cfg(test)]
mod tests;
