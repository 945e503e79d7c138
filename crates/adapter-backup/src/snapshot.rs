//! A snapshot of one database.

use std::{fs, ops::ControlFlow, os::unix::fs::OpenOptionsExt as _, path::Path, time::Duration};

use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    backup::{Backup, StepResult},
    config::DbConfig,
};

use crate::{BackupError, files::DatabaseFile};

/// A cheap read, which opens the file and begins a read transaction.
const READ_SCHEMA: &str = "SELECT count(*) FROM sqlite_schema";
/// Pages copied between two reports.
const PAGES_PER_STEP: i32 = 256;

/// An open database that was read once, so that beginning a snapshot is quick.
#[derive(Debug)]
pub(crate) struct OpenDatabase {
    connection: Connection,
    file: DatabaseFile,
}

/// A read transaction on a database. In WAL mode it does not block writers; only the log grows.
#[derive(Debug)]
pub(crate) struct Snapshot {
    connection: Connection,
    file: DatabaseFile,
    page_size: u64,
    page_count: u64,
}

impl OpenDatabase {
    /// Opens a database and waits up to `patience` for locks; returns `None` if the file no longer exists.
    pub(crate) fn open(file: &DatabaseFile, patience: Duration) -> Result<Option<Self>, BackupError> {
        let open = || -> rusqlite::Result<Self> {
            let connection = open_source(&file.path, patience)?;
            connection.execute_batch(READ_SCHEMA)?;
            Ok(Self { connection, file: file.clone() })
        };
        match open() {
            Ok(opened) => Ok(Some(opened)),
            Err(_) if !file.path.exists() => Ok(None),
            Err(source) => Err(BackupError::Read { path: file.path.clone(), source }),
        }
    }

    /// Begins the snapshot: later commits are not part of the copy.
    pub(crate) fn begin_snapshot(self) -> Result<Snapshot, BackupError> {
        let Self { connection, file } = self;
        let begin = || -> rusqlite::Result<(u64, u64)> {
            connection.execute_batch("BEGIN")?;
            // In SQLite, the first read begins the transaction.
            connection.execute_batch(READ_SCHEMA)?;
            let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
            let (page, pages) = (number("PRAGMA page_size")?, number("PRAGMA page_count")?);
            let number = |number| u64::try_from(number).unwrap_or_default();
            Ok((number(page), number(pages)))
        };
        match begin() {
            Ok((page, pages)) => Ok(Snapshot { connection, file, page_size: page, page_count: pages }),
            Err(source) => Err(BackupError::Read { path: file.path, source }),
        }
    }
}

impl Snapshot {
    /// Path relative to the directory of the backup.
    pub(crate) fn backup_path(&self) -> &Path {
        &self.file.backup_path
    }

    /// Size of the copy, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.page_size * self.page_count
    }

    /// Returns the numbers in the first column of a query on the snapshot.
    pub(crate) fn query_numbers(&self, statement: &str) -> Result<Vec<i64>, BackupError> {
        let read = || -> rusqlite::Result<Vec<i64>> {
            let mut statement = self.connection.prepare(statement)?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(|source| BackupError::Read { path: self.file.path.clone(), source })
    }

    /// Writes the copy and syncs it to disk. `report` gets the number of bytes written so far.
    pub(crate) fn copy_to(
        self,
        to: &Path,
        mut report: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), BackupError> {
        let unwritten = |source| BackupError::Write { path: to.to_owned(), source };
        // SQLite keeps the mode of an existing file.
        fs::File::options().write(true).create_new(true).mode(0o600).open(to).map_err(unwritten)?;
        let failed = |source| BackupError::Copy { from: self.file.path.clone(), to: to.to_owned(), source };
        let mut copy = open_copy(to).map_err(failed)?;
        {
            let backup = Backup::new(&self.connection, &mut copy).map_err(failed)?;
            loop {
                let step = backup.step(PAGES_PER_STEP).map_err(failed)?;
                let progress = backup.progress();
                let done = u64::try_from(progress.pagecount - progress.remaining).unwrap_or_default();
                if report(done * self.page_size).is_break() {
                    return Err(BackupError::Stopped);
                }
                match step {
                    StepResult::Done => break,
                    StepResult::More => {}
                    // Nothing else uses the copy, and the read transaction has begun.
                    _ => return Err(failed(busy_error())),
                }
            }
        }
        copy.close().map_err(|(_, source)| failed(source))?;
        fs::File::open(to).and_then(|file| file.sync_all()).map_err(unwritten)
    }
}

/// Opens a connection that only reads and leaves the database as it is, with or without a server running.
pub(crate) fn open_source(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    // Reading in WAL mode writes to the shared-memory file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    // The last connection to close would otherwise checkpoint the log.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA cache_size = -256")?;
    Ok(connection)
}

/// Opens the file of a copy, without a journal: an incomplete copy is discarded anyway.
fn open_copy(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    Ok(connection)
}

fn busy_error() -> rusqlite::Error {
    let code =
        rusqlite::ffi::Error { code: ErrorCode::DatabaseBusy, extended_code: rusqlite::ffi::SQLITE_BUSY };
    rusqlite::Error::SqliteFailure(code, None)
}
