//! Takes snapshots of the control plane and of rows that are consistent with each other.
//!
//! Control plane and rows refer to each other. A run is recorded as finished once it wrote its rows; the audit row of a
//! change is in the project's outbox until the control plane has it; the record of a project is written after its file.
//! All three hold in a backup if nothing is committed to the control plane between its snapshot and those of the rows.
//! So the control plane's write lock is held while read transactions begin on all files, which are open by then, and
//! released before the first is copied.
//! See `docs/decisions/0140-back-up-sqlite-under-the-write-lock.md`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};

use crate::{
    BackupError, BackupSources,
    files::{self, DatabaseFile},
    snapshot::{OpenDatabase, Snapshot, open_source},
};

/// Time limit for acquiring the write lock.
const WRITE_LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between two tries to acquire it. SQLite's own delays grow, and would miss the short pauses of a busy server.
const WRITE_LOCK_RETRY_INTERVAL: Duration = Duration::from_micros(200);
/// Time after which no more snapshots begin under the write lock. Writers wait for it, and give up after five seconds.
const MAX_WRITE_LOCK_HOLD: Duration = Duration::from_secs(1);
/// Maximum number of files open at once: each takes three descriptors and some memory.
const MAX_OPEN_SNAPSHOTS: usize = 1_000;
/// Time limit for the lock of one file while the write lock is held.
const BUSY_TIMEOUT: Duration = Duration::from_millis(200);

/// Snapshots and files to copy.
pub(crate) struct ConsistentSnapshot {
    /// Snapshots that are consistent with each other, the control plane's first: its log grows until it is copied.
    pub(crate) snapshots: Vec<Snapshot>,
    /// Files that are opened only when they are copied, so that they may be newer than the control plane.
    pub(crate) deferred: Vec<DatabaseFile>,
}

pub(crate) fn take_snapshot(sources: &BackupSources) -> Result<ConsistentSnapshot, BackupError> {
    let mut opened = open_row_files(sources)?;
    let missing = || BackupError::List {
        path: sources.control_plane.clone(),
        source: std::io::ErrorKind::NotFound.into(),
    };
    let control_plane =
        OpenDatabase::open(&files::control_plane_file(sources), WRITE_LOCK_TIMEOUT)?.ok_or_else(missing)?;
    let write_lock = WriteLock::acquire(&sources.control_plane)?;
    let begun = Instant::now();
    let control_plane = control_plane.begin_snapshot()?;
    let mut snapshot_set = ConsistentSnapshot { snapshots: Vec::new(), deferred: Vec::new() };
    let shards = control_plane.query_numbers("SELECT DISTINCT shard FROM backend_projects")?;
    snapshot_set.snapshots.push(control_plane);
    // Listed again: a project may have been created since.
    for file in files::list_row_files(sources)? {
        if begun.elapsed() > MAX_WRITE_LOCK_HOLD || snapshot_set.snapshots.len() > MAX_OPEN_SNAPSHOTS {
            snapshot_set.deferred.push(file);
            continue;
        }
        let snapshot = match opened.remove(&file.backup_path) {
            Some(opened) => opened.begin_snapshot().map(Some),
            None => OpenDatabase::open(&file, BUSY_TIMEOUT)
                .and_then(|opened| opened.map(OpenDatabase::begin_snapshot).transpose()),
        };
        match snapshot {
            Ok(snapshot) => snapshot_set.snapshots.extend(snapshot),
            // Busy, or out of descriptors: it may work later.
            Err(_) => snapshot_set.deferred.push(file),
        }
    }
    drop(write_lock);
    for shard in shards.into_iter().filter_map(|shard| u16::try_from(shard).ok()) {
        if !sources.rows.contains_key(&shard) && !sources.external_shards.contains(&shard) {
            return Err(BackupError::UnknownShard(shard));
        }
    }
    Ok(snapshot_set)
}

/// Opens files of rows before the write lock is taken; returns them by their path in the backup.
fn open_row_files(sources: &BackupSources) -> Result<BTreeMap<PathBuf, OpenDatabase>, BackupError> {
    let mut opened = BTreeMap::new();
    for file in files::list_row_files(sources)?.into_iter().take(MAX_OPEN_SNAPSHOTS) {
        // A file that cannot be opened is tried again under the write lock.
        if let Ok(Some(file_opened)) = OpenDatabase::open(&file, BUSY_TIMEOUT) {
            opened.insert(file.backup_path, file_opened);
        }
    }
    Ok(opened)
}

/// The write lock of the control plane's database, until dropped; nothing is written with it.
struct WriteLock(#[expect(dead_code, reason = "held until it is dropped")] Connection);

impl WriteLock {
    #[expect(
        clippy::disallowed_methods,
        reason = "SQLite has no notification for a commit of another process"
    )]
    fn acquire(path: &Path) -> Result<Self, BackupError> {
        let failed = |source| BackupError::Read { path: path.to_owned(), source };
        let connection = open_source(path, Duration::ZERO).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match connection.execute_batch("BEGIN IMMEDIATE") {
                Ok(()) => return Ok(Self(connection)),
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                    if begun.elapsed() > WRITE_LOCK_TIMEOUT {
                        return Err(BackupError::Busy {
                            path: path.to_owned(),
                            seconds: WRITE_LOCK_TIMEOUT.as_secs(),
                        });
                    }
                    thread::sleep(WRITE_LOCK_RETRY_INTERVAL);
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }
}
