//! One database as it was at one moment.

use std::{fs, ops::ControlFlow, os::unix::fs::OpenOptionsExt as _, path::Path, time::Duration};

use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    backup::{Backup, StepResult},
    config::DbConfig,
};

use crate::{BackupError, files::DatabaseFile};

/// Reads something of a database.
const READ_SCHEMA: &str = "SELECT count(*) FROM sqlite_schema";
/// Pages copied between two reports.
const PAGES_PER_STEP: i32 = 256;

/// A database that is open, and read already: what takes long is done.
#[derive(Debug)]
pub(crate) struct OpenDatabase {
    connection: Connection,
    file: DatabaseFile,
}

/// A read transaction on a database. In WAL mode it holds nobody up: who writes goes on, and only the log grows.
#[derive(Debug)]
pub(crate) struct Snapshot {
    connection: Connection,
    file: DatabaseFile,
    page_size: u64,
    page_count: u64,
}

impl OpenDatabase {
    /// Opens a database; nothing where it is not there any more.
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

    /// Chooses the moment: what is committed from now on is not of the copy.
    pub(crate) fn begin_snapshot(self) -> Result<Snapshot, BackupError> {
        let Self { connection, file } = self;
        let begin = || -> rusqlite::Result<(u64, u64)> {
            connection.execute_batch("BEGIN")?;
            // It is the first look that begins it.
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
    /// Its path in the backup.
    pub(crate) fn backup_path(&self) -> &Path {
        &self.file.backup_path
    }

    /// Bytes its copy takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.page_size * self.page_count
    }

    /// Numbers that a statement finds in it.
    pub(crate) fn query_numbers(&self, statement: &str) -> Result<Vec<i64>, BackupError> {
        let read = || -> rusqlite::Result<Vec<i64>> {
            let mut statement = self.connection.prepare(statement)?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(|source| BackupError::Read { path: self.file.path.clone(), source })
    }

    /// Writes the copy and waits until it is on the disk. `report` is told how many bytes are written.
    pub(crate) fn copy_to(
        self,
        to: &Path,
        mut report: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), BackupError> {
        let unwritten = |source| BackupError::Write { path: to.to_owned(), source };
        // SQLite takes the rights of a file that is there.
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
                    // Nobody else has the copy, and the read transaction is begun.
                    _ => return Err(failed(busy_error())),
                }
            }
        }
        copy.close().map_err(|(_, source)| failed(source))?;
        fs::File::open(to).and_then(|file| file.sync_all()).map_err(unwritten)
    }
}

/// A connection that reads and leaves a database as it is, beside a server and without one.
pub(crate) fn open_source(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    // Reading a log takes writing to what says who reads it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    // Whoever closes a database last would else write the log into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA cache_size = -256")?;
    Ok(connection)
}

/// The file of a copy. What is half done is thrown away, so that a journal would be of no use.
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
