//! Connections to files, with their safety settings and the time limit of statements.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use backend_data::{ProjectRef, StoreError, store::Write};
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{
    SharedState, SqliteOptions, capacity::CapacityEstimate, execute, functions, internal_error, like,
    priority,
};

/// The names of tables of this store begin with an underscore, which no table of a project can have.
pub(super) const CREATE_CATALOG_TABLE: &str = "CREATE TABLE IF NOT EXISTS \"_catalog\" (\
    \"one\" INTEGER PRIMARY KEY CHECK (\"one\" = 1), \"version\" INTEGER NOT NULL, \"body\" TEXT NOT NULL) STRICT";

/// Time to wait for a lock of another connection. Only opening and closing a file hold one for long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Number of instructions of SQLite's virtual machine between two checks of the deadline: some microseconds, unless one
/// of them takes long.
const PROGRESS_HANDLER_OPS: i32 = 250;

/// Groups of writes that have savepoints after a write that failed: so many that the writes that run twice cost less than the
/// savepoints would where failures are frequent.
const GUARDED_GROUPS: u32 = 64;

/// The use of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// A connection to the file of a project.
pub(super) struct FileConnection {
    pub(super) connection: Connection,
    /// The version of the catalog in a connection for writing; 0 in one for reading.
    pub(super) version: u64,
    deadline: Arc<Deadline>,
    capacity: Cell<CapacityEstimate>,
    /// Groups of writes that still have savepoints, after a write that failed.
    guarded_groups: Cell<u32>,
}

impl FileConnection {
    /// Opens the file of a project; creates it with `create`.
    pub(super) fn new(
        shared: &SharedState,
        project: &ProjectRef,
        role: Role,
        create: bool,
    ) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let flags = if create { flags | OpenFlags::SQLITE_OPEN_CREATE } else { flags };
        let connection =
            Connection::open_with_flags(shared.path(project), flags).map_err(execute::to_store_error)?;
        let deadline = Arc::new(Deadline { start: Instant::now(), nanos: AtomicU64::new(u64::MAX) });
        let version = configure(&shared.options, &connection, role, deadline.clone())
            .map_err(execute::to_store_error)?;
        let version = u64::try_from(version).map_err(internal_error)?;
        Ok(Self { connection, version, deadline, capacity: Cell::default(), guarded_groups: Cell::default() })
    }

    /// Refuses a write if the rows take as many bytes as they may.
    pub(super) fn reserve_capacity(&self, write: &Write) -> Result<(), StoreError> {
        let mut capacity = self.capacity.get();
        let reserved = capacity.reserve(&self.connection, write);
        self.capacity.set(capacity);
        reserved
    }

    /// Makes the next write measure the storage that is left.
    pub(super) fn invalidate_capacity(&self) {
        self.capacity.set(CapacityEstimate::default());
    }

    /// Returns true if a write of the next group may fail, because one has failed lately. A savepoint keeps a copy of every
    /// page that its write changes, which is a third of the time of a large write; without one, a failure makes the other
    /// writes of the group run twice.
    pub(super) fn expects_failures(&self) -> bool {
        let left = self.guarded_groups.get();
        self.guarded_groups.set(left.saturating_sub(1));
        left > 0
    }

    /// Gives the next groups of writes savepoints.
    pub(super) fn record_failure(&self) {
        self.guarded_groups.set(GUARDED_GROUPS);
    }

    /// Interrupts statements that are still running after this time from now.
    pub(super) fn set_statement_timeout(&self, time: Duration) {
        self.deadline.set(time);
    }
}

/// The time at which the running statement is interrupted, in nanoseconds from `start`.
struct Deadline {
    start: Instant,
    nanos: AtomicU64,
}

impl Deadline {
    fn set(&self, time: Duration) {
        let now = Instant::now();
        priority::begin_statement(now);
        let at = now.duration_since(self.start).saturating_add(time).as_nanos();
        self.nanos.store(u64::try_from(at).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn is_passed(&self) -> bool {
        let now = Instant::now();
        priority::yield_if_long(now);
        now.duration_since(self.start).as_nanos() > u128::from(self.nanos.load(Ordering::Relaxed))
    }
}

fn configure(
    options: &SqliteOptions,
    connection: &Connection,
    role: Role,
    deadline: Arc<Deadline>,
) -> rusqlite::Result<i64> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A misspelled column in double quotes must be an error, not a string.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Keeps the plan of a prepared statement; otherwise a new value of a parameter may prepare it again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    let cache = options.cache_kib;
    connection.execute_batch(&format!("PRAGMA cache_size = -{cache}"))?;
    match role {
        Role::Writer => {
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
            connection.execute_batch(CREATE_CATALOG_TABLE)?;
            connection.execute("INSERT OR IGNORE INTO \"_catalog\" VALUES (1, 0, '{\"tables\":[]}')", [])?;
        }
        Role::Reader => {
            // Closing the last connection of a file checkpoints the WAL and waits for the disk, which is left to
            // writers.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.execute_batch("PRAGMA query_only = ON")?;
        }
    }
    let clock = deadline.clone();
    like::register(connection, move || clock.is_passed())?;
    let clock = deadline.clone();
    functions::register(connection, move || clock.is_passed())?;
    connection.progress_handler(PROGRESS_HANDLER_OPS, Some(move || deadline.is_passed()))?;
    if role == Role::Reader {
        return Ok(0);
    }
    connection.query_row("SELECT \"version\" FROM \"_catalog\"", [], |row| row.get(0))
}
