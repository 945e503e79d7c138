//! The moments at which databases are copied.
//!
//! Control plane and rows refer to each other. A run is recorded as ended once it wrote its rows; an audit row of a change is
//! in the project's outbox until the control plane has it; the record of a project comes after its file. All three hold in a
//! backup if nothing is committed to the control plane between its moment and those of the rows. So its turn to write is
//! taken while read transactions are begun on all files, which are open by then, and given back before the first is copied.
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

/// Longest wait for the turn to write.
const WRITE_LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between two requests for it. SQLite's own waits grow, and would miss the short pauses of a busy server.
const WRITE_LOCK_RETRY_INTERVAL: Duration = Duration::from_micros(200);
/// Longest time the turn is held. Writers wait for it and give up after five seconds.
const MAX_WRITE_LOCK_HOLD: Duration = Duration::from_secs(1);
/// Most files open at once: each takes three descriptors and some memory.
const MAX_OPEN_SNAPSHOTS: usize = 1_000;
/// Longest wait for one file while the turn is held.
const BUSY_TIMEOUT: Duration = Duration::from_millis(200);

/// The databases to copy.
pub(crate) struct ConsistentSnapshot {
    /// Snapshots that fit together, the control plane's first: its log grows until it is copied.
    pub(crate) snapshots: Vec<Snapshot>,
    /// Files that are opened only when they are copied.
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
    // Listed anew: a project may have been made since.
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
            // It is busy, or out of descriptors: later it may not be.
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

/// Files of rows by their names in the backup, opened before anybody has to wait for it.
fn open_row_files(sources: &BackupSources) -> Result<BTreeMap<PathBuf, OpenDatabase>, BackupError> {
    let mut opened = BTreeMap::new();
    for file in files::list_row_files(sources)?.into_iter().take(MAX_OPEN_SNAPSHOTS) {
        // One that cannot be opened is tried again.
        if let Ok(Some(file_opened)) = OpenDatabase::open(&file, BUSY_TIMEOUT) {
            opened.insert(file.backup_path, file_opened);
        }
    }
    Ok(opened)
}

/// The control plane's turn to write, until it is dropped; nothing is written with it.
struct WriteLock(#[expect(dead_code, reason = "held until it is dropped")] Connection);

impl WriteLock {
    #[expect(clippy::disallowed_methods, reason = "another process tells nobody that it has committed")]
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
