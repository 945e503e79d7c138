//! Checkpoints of SQLite beside the hot path: what is in the log is copied into the database while the lane goes on.
//!
//! A checkpoint on the lane holds up every caller for as long as it copies and syncs. One on another connection does not;
//! but only at a moment when nothing is left to copy does the log begin anew, so the lane still makes the last one
//! itself, of the little that came meanwhile.

use std::{
    path::Path,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use kernel::StoreError;
use rusqlite::Connection;

use super::own::failed;
use crate::connect::{BUSY_TIMEOUT, LOG_PAGES};

/// Pages not copied yet at which a checkpoint is made here.
const BESIDE: i64 = 12_000;
/// Pages in the log at which what came since is copied here too: the lane's own checkpoint is near, and holds up every
/// caller for as long as it takes.
const NEARLY: i64 = LOG_PAGES as i64 - 1_000;
/// As few pages are left to the lane.
const FEW: i64 = 64;
/// Commits between two looks at how many there are.
const LOOK: u32 = 8;

/// Tells the thread of the checkpoints when to look. The thread ends with it.
pub(super) struct Checkpoints {
    look: SyncSender<()>,
    commits: u32,
}

impl Checkpoints {
    /// Starts the thread, on a database that exists.
    pub(super) fn start(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        let (look, looks) = sync_channel(1);
        thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || copy_as_told(&connection, &looks))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Self { look, commits: 0 })
    }

    /// Something was committed.
    pub(super) fn committed(&mut self) {
        self.commits = (self.commits + 1) % LOOK;
        if self.commits == 0 {
            // Should it still be at work, it will look again at the latest after as many commits.
            let _ = self.look.try_send(());
        }
    }
}

fn copy_as_told(connection: &Connection, looks: &Receiver<()>) {
    while looks.recv().is_ok() {
        if let Err(error) = copy_if_many(connection) {
            // The lane makes the next one.
            tracing::debug!(error = &error as &dyn std::error::Error, "a checkpoint was not made");
        }
    }
}

fn copy_if_many(connection: &Connection) -> Result<(), StoreError> {
    let (log, copied): (i64, i64) = connection
        .prepare_cached("PRAGMA wal_checkpoint(NOOP)")
        .and_then(|mut look| look.query_row([], |row| Ok((row.get(1)?, row.get(2)?))))
        .map_err(failed)?;
    let left = log - copied;
    if left >= BESIDE || (log >= NEARLY && left >= FEW) {
        connection
            .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")
            .and_then(|mut copy| copy.query_row([], |_| Ok(())))
            .map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(connection: &Connection) -> i64 {
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
        copy_if_many(&beside).unwrap();
        assert!(left(&beside) > 0, "a short log is left to the lane");
        writer.execute("INSERT INTO t VALUES (zeroblob(4096 * 12500))", []).unwrap();
        assert!(left(&beside) > BESIDE);
        copy_if_many(&beside).unwrap();
        assert_eq!(left(&beside), 0);
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
        copy_if_many(&beside).unwrap();
        assert_eq!(left(&beside), 0);
        write(1_500);
        copy_if_many(&beside).unwrap();
        assert!(left(&beside) >= 1_500, "there is room in the log for more");
        write(1_500);
        reader.execute_batch("COMMIT").unwrap();
        copy_if_many(&beside).unwrap();
        assert_eq!(left(&beside), 0, "the log is nearly full");
    }
}
