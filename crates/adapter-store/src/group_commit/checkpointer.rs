//! Checkpoints of SQLite beside the writer: which statements read and copy the log, and when.

use std::path::Path;

use ::group_commit::{CheckpointThresholds, Checkpointer, Wal, WalPages};
use kernel::StoreError;
use rusqlite::Connection;

use crate::{
    error::sqlite_store_error,
    pool::{BUSY_TIMEOUT, WAL_AUTOCHECKPOINT_PAGES},
};

const THRESHOLDS: CheckpointThresholds = CheckpointThresholds {
    uncopied: 12_000,
    nearly_full: WAL_AUTOCHECKPOINT_PAGES as u64 - 1_000,
    min_uncopied: 64,
};

/// Starts the checkpoints of a database that exists.
pub(super) fn start(path: &Path) -> Result<Checkpointer, StoreError> {
    let connection = Connection::open(path).map_err(sqlite_store_error)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite_store_error)?;
    Checkpointer::start(THRESHOLDS, SqliteWal(connection))
        .map_err(|error| StoreError::Unavailable(error.into()))
}

/// The log, through a connection of its own.
struct SqliteWal(Connection);

impl Wal for SqliteWal {
    type Error = rusqlite::Error;

    fn pages(&mut self) -> rusqlite::Result<WalPages> {
        let mut look = self.0.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
        // A database without a log has -1 of each.
        let pages = |number: i64| u64::try_from(number).unwrap_or(0);
        look.query_row([], |row| Ok(WalPages { total: pages(row.get(1)?), copied: pages(row.get(2)?) }))
    }

    fn copy(&mut self) -> rusqlite::Result<()> {
        self.0.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uncopied_pages(wal: &mut SqliteWal) -> u64 {
        let pages = wal.pages().unwrap();
        pages.total - pages.copied
    }

    #[test]
    fn a_long_log_is_copied_beside_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (b)")
            .unwrap();
        let mut beside = SqliteWal(Connection::open(&path).unwrap());
        writer.execute("INSERT INTO t VALUES (zeroblob(1000))", []).unwrap();
        THRESHOLDS.checkpoint_if_due(&mut beside).unwrap();
        assert!(uncopied_pages(&mut beside) > 0, "a short log is left to the lane");
        writer.execute("INSERT INTO t VALUES (zeroblob(4096 * 12500))", []).unwrap();
        assert!(uncopied_pages(&mut beside) > THRESHOLDS.uncopied);
        THRESHOLDS.checkpoint_if_due(&mut beside).unwrap();
        assert_eq!(uncopied_pages(&mut beside), 0);
    }

    #[test]
    fn little_of_a_full_log_is_left_to_the_lane() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let [writer, reader, beside] = [(); 3].map(|()| Connection::open(&path).unwrap());
        let mut beside = SqliteWal(beside);
        writer
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (b)")
            .unwrap();
        let write =
            |pages: u32| writer.execute("INSERT INTO t VALUES (zeroblob(4096 * ?1))", [pages]).unwrap();
        write(12_500);
        // What somebody reads stays in the log, and the log does not begin anew.
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM t", [], |_| Ok(())).unwrap();
        THRESHOLDS.checkpoint_if_due(&mut beside).unwrap();
        assert_eq!(uncopied_pages(&mut beside), 0);
        write(1_500);
        THRESHOLDS.checkpoint_if_due(&mut beside).unwrap();
        assert!(uncopied_pages(&mut beside) >= 1_500, "there is room in the log for more");
        write(1_500);
        reader.execute_batch("COMMIT").unwrap();
        THRESHOLDS.checkpoint_if_due(&mut beside).unwrap();
        assert_eq!(uncopied_pages(&mut beside), 0, "the log is nearly full");
    }
}
