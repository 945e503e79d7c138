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

use super::{Shared, SqliteOptions, functions, internal, like, priority, room::Room, run};

/// Our own tables begin with an underscore, which no table of a project can.
pub(super) const META: &str = "CREATE TABLE IF NOT EXISTS \"_catalog\" (\
    \"one\" INTEGER PRIMARY KEY CHECK (\"one\" = 1), \"version\" INTEGER NOT NULL, \"body\" TEXT NOT NULL) STRICT";

/// How long a lock of another connection is waited for; only opening and closing a file take one for long.
const BUSY: Duration = Duration::from_secs(5);

/// How many steps of SQLite's machine lie between two looks at the clock: some microseconds of them, were it not for what
/// a step may do.
const STEPS: i32 = 250;

/// What a thread may do with its files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Reader,
    Writer,
}

/// An open file.
pub(super) struct Open {
    pub(super) connection: Connection,
    /// The version of the catalog; writers alone change it and keep it.
    pub(super) version: u64,
    deadline: Arc<Deadline>,
    room: Cell<Room>,
}

impl Open {
    /// Opens the file of a project, or makes it.
    pub(super) fn new(
        shared: &Shared,
        project: &ProjectRef,
        role: Role,
        create: bool,
    ) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let flags = if create { flags | OpenFlags::SQLITE_OPEN_CREATE } else { flags };
        let connection = Connection::open_with_flags(shared.path(project), flags).map_err(run::failed)?;
        let deadline = Arc::new(Deadline { start: Instant::now(), nanos: AtomicU64::new(u64::MAX) });
        let version = prepare(&shared.options, &connection, role, deadline.clone()).map_err(run::failed)?;
        let version = u64::try_from(version).map_err(internal)?;
        Ok(Self { connection, version, deadline, room: Cell::default() })
    }

    /// Refuses a write where the rows take as many bytes as they may.
    pub(super) fn admit(&self, write: &Write) -> Result<(), StoreError> {
        let mut room = self.room.get();
        let admitted = room.admit(&self.connection, write);
        self.room.set(room);
        admitted
    }

    /// Has the next write look how much room there is.
    pub(super) fn forget_room(&self) {
        self.room.set(Room::default());
    }

    /// Statements from now on are stopped after this long.
    pub(super) fn allow(&self, time: Duration) {
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
        priority::begin(now);
        let at = now.duration_since(self.start).saturating_add(time).as_nanos();
        self.nanos.store(u64::try_from(at).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn passed(&self) -> bool {
        let now = Instant::now();
        priority::give_way(now);
        now.duration_since(self.start).as_nanos() > u128::from(self.nanos.load(Ordering::Relaxed))
    }
}

fn prepare(
    options: &SqliteOptions,
    connection: &Connection,
    role: Role,
    deadline: Arc<Deadline>,
) -> rusqlite::Result<i64> {
    connection.busy_timeout(BUSY)?;
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
            connection.execute_batch(META)?;
            connection.execute("INSERT OR IGNORE INTO \"_catalog\" VALUES (1, 0, '{\"tables\":[]}')", [])?;
        }
        Role::Reader => {
            // Whoever closes a file last would else copy what was written and wait for the disk; that is for writers.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.execute_batch("PRAGMA query_only = ON")?;
        }
    }
    let clock = deadline.clone();
    like::register(connection, move || clock.passed())?;
    let clock = deadline.clone();
    functions::register(connection, move || clock.passed())?;
    connection.progress_handler(STEPS, Some(move || deadline.passed()))?;
    if role == Role::Reader {
        return Ok(0);
    }
    connection.query_row("SELECT \"version\" FROM \"_catalog\"", [], |row| row.get(0))
}
