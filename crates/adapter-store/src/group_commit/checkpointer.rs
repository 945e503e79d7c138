//! Checkpoints of SQLite beside the writer: the log is copied into the database while the writer goes on.
//!
//! A checkpoint by the writer holds up every caller for as long as it copies and syncs. One on another connection does
//! not; but only at a moment when nothing is left to copy does the log begin anew, so the writer still makes the last
//! one itself, of the little that came meanwhile.

use std::{
    path::Path,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use kernel::StoreError;
use rusqlite::Connection;

use crate::{
    error::sqlite_store_error,
    pool::{BUSY_TIMEOUT, WAL_AUTOCHECKPOINT_PAGES},
};

/// Pages not copied yet at which a checkpoint is made here.
const CHECKPOINT_PAGES: i64 = 12_000;
/// Pages in the log at which what came since is copied here too: the writer's own checkpoint is near, and holds up
/// every caller for as long as it takes.
const WAL_NEARLY_FULL_PAGES: i64 = WAL_AUTOCHECKPOINT_PAGES as i64 - 1_000;
/// Pages left for the writer's own checkpoint.
const MIN_UNCOPIED_PAGES: i64 = 64;
/// Commits between two looks at how many there are.
const COMMITS_PER_CHECK: u32 = 8;

/// Tells the thread of the checkpoints when to look. The thread ends with it.
pub(super) struct Checkpointer {
    wake: SyncSender<()>,
    commits: u32,
}

impl Checkpointer {
    /// Starts the thread, on a database that exists.
    pub(super) fn start(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path).map_err(sqlite_store_error)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite_store_error)?;
        let (wake, wakeups) = sync_channel(1);
        thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || run_checkpointer(&connection, &wakeups))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Self { wake, commits: 0 })
    }

    /// Something was committed.
    pub(super) fn record_commit(&mut self) {
        self.commits = (self.commits + 1) % COMMITS_PER_CHECK;
        if self.commits == 0 {
            // Should it still be at work, it will look again at the latest after as many commits.
            let _ = self.wake.try_send(());
        }
    }
}

fn run_checkpointer(connection: &Connection, wakeups: &Receiver<()>) {
    while wakeups.recv().is_ok() {
        if let Err(error) = checkpoint_if_due(connection) {
            // The writer makes the next one.
            tracing::debug!(error = &error as &dyn std::error::Error, "a checkpoint was not made");
        }
    }
}

fn checkpoint_if_due(connection: &Connection) -> Result<(), StoreError> {
    let (wal_pages, copied): (i64, i64) = connection
        .prepare_cached("PRAGMA wal_checkpoint(NOOP)")
        .and_then(|mut look| look.query_row([], |row| Ok((row.get(1)?, row.get(2)?))))
        .map_err(sqlite_store_error)?;
    let uncopied = wal_pages - copied;
    if uncopied >= CHECKPOINT_PAGES || (wal_pages >= WAL_NEARLY_FULL_PAGES && uncopied >= MIN_UNCOPIED_PAGES)
    {
        connection
            .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")
            .and_then(|mut copy| copy.query_row([], |_| Ok(())))
            .map_err(sqlite_store_error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uncopied_pages(connection: &Connection) -> i64 {
        let look = "PRAGMA wal_checkpoint(NOOP)";
        connection.query_row(look, [], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?)).unwrap()
    }

    #[test]
    fn a_long_log_is_copied_beside_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (b)")
            .unwrap();
        let beside = Connection::open(&path).unwrap();
        writer.execute("INSERT INTO t VALUES (zeroblob(1000))", []).unwrap();
        checkpoint_if_due(&beside).unwrap();
        assert!(uncopied_pages(&beside) > 0, "a short log is left to the lane");
        writer.execute("INSERT INTO t VALUES (zeroblob(4096 * 12500))", []).unwrap();
        assert!(uncopied_pages(&beside) > CHECKPOINT_PAGES);
        checkpoint_if_due(&beside).unwrap();
        assert_eq!(uncopied_pages(&beside), 0);
    }

    #[test]
    fn little_of_a_full_log_is_left_to_the_lane() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let [writer, reader, beside] = [(); 3].map(|()| Connection::open(&path).unwrap());
        writer
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (b)")
            .unwrap();
        let write =
            |pages: u32| writer.execute("INSERT INTO t VALUES (zeroblob(4096 * ?1))", [pages]).unwrap();
        write(12_500);
        // What somebody reads stays in the log, and the log does not begin anew.
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM t", [], |_| Ok(())).unwrap();
        checkpoint_if_due(&beside).unwrap();
        assert_eq!(uncopied_pages(&beside), 0);
        write(1_500);
        checkpoint_if_due(&beside).unwrap();
        assert!(uncopied_pages(&beside) >= 1_500, "there is room in the log for more");
        write(1_500);
        reader.execute_batch("COMMIT").unwrap();
        checkpoint_if_due(&beside).unwrap();
        assert_eq!(uncopied_pages(&beside), 0, "the log is nearly full");
    }
}
