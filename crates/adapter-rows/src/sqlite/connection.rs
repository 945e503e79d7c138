//! Open files, each with what keeps it safe and a clock that stops long statements.

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

/// Our own tables begin with an underscore, which no table of a project can.
pub(super) const CREATE_CATALOG_TABLE: &str = "CREATE TABLE IF NOT EXISTS \"_catalog\" (\
    \"one\" INTEGER PRIMARY KEY CHECK (\"one\" = 1), \"version\" INTEGER NOT NULL, \"body\" TEXT NOT NULL) STRICT";

/// How long a lock of another connection is waited for; only opening and closing a file take one for long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How many steps of SQLite's machine lie between two looks at the clock: some microseconds of them, were it not for what
/// a step may do.
const PROGRESS_HANDLER_OPS: i32 = 250;

/// What a thread may do with its files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// An open file.
pub(super) struct FileConnection {
    pub(super) connection: Connection,
    /// The version of the catalog; writers alone change it and keep it.
    pub(super) version: u64,
    deadline: Arc<Deadline>,
    capacity: Cell<CapacityEstimate>,
}

impl FileConnection {
    /// Opens the file of a project, or makes it.
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
        Ok(Self { connection, version, deadline, capacity: Cell::default() })
    }

    /// Refuses a write where the rows take as many bytes as they may.
    pub(super) fn reserve_capacity(&self, write: &Write) -> Result<(), StoreError> {
        let mut room = self.capacity.get();
        let admitted = room.reserve(&self.connection, write);
        self.capacity.set(room);
        admitted
    }

    /// Has the next write look how much room there is.
    pub(super) fn invalidate_capacity(&self) {
        self.capacity.set(CapacityEstimate::default());
    }

    /// Statements from now on are stopped after this long.
    pub(super) fn set_statement_timeout(&self, time: Duration) {
        self.deadline.set(time);
    }
}

/// When the running statement is stopped.
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
    // A misspelled column must be an error, never a string.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // A prepared statement stays as it is: otherwise it is prepared anew whenever a bound value changes.
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
            // Whoever closes a file last would else copy what was written and wait for the disk; that is for writers.
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
