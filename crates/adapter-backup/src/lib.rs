//! Backups of SQLite data while servers write to it: the control plane's database and the rows of backend projects.
//!
//! Each database is copied as it was at one point in time (`snapshot`). These points are chosen so that the files are
//! consistent with each other (`consistent_snapshot`). The directory gets either the whole backup or nothing
//! (`target`).

mod consistent_snapshot;
mod error;
mod files;
mod snapshot;
mod sources;
mod target;

use std::{ops::ControlFlow, path::Path, time::Duration};

pub use error::BackupError;
pub use sources::BackupSources;

use crate::{
    consistent_snapshot::ConsistentSnapshot,
    snapshot::{OpenDatabase, Snapshot},
    target::Target,
};

/// Time a read of a project's file waits for a lock when the file is opened only to be copied.
const DEFERRED_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Progress of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of databases copied.
    pub files: usize,
    /// Number of databases in all.
    pub total_files: usize,
    /// Number of bytes copied.
    pub bytes: u64,
}

/// A complete backup that is durable on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupSummary {
    /// Number of databases in it.
    pub files: usize,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of databases that may be newer than the control plane's copy, because there were too many to snapshot at
    /// once.
    pub deferred_files: usize,
}

/// Makes a backup in a directory that is new or empty. `report` is called after each step and may stop the backup.
///
/// # Errors
/// Fails if something cannot be read or written, or if `report` stops it. The directory is then as it was before.
pub fn back_up(
    sources: &BackupSources,
    directory: &Path,
    mut report: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<BackupSummary, BackupError> {
    let target = Target::new(directory)?;
    let ConsistentSnapshot { snapshots: held, deferred: later } =
        consistent_snapshot::take_snapshot(sources)?;
    let needed = held.iter().map(Snapshot::bytes).sum::<u64>() + files::total_bytes(&later);
    target.check_free_space(needed)?;
    let mut progress = Progress { files: 0, total_files: held.len() + later.len(), bytes: 0 };
    let mut copy = |snapshot: Snapshot| {
        let (file, before) = (target.prepare_file(snapshot.backup_path())?, progress.bytes);
        snapshot.copy_to(&file, |bytes| {
            progress.bytes = before + bytes;
            report(progress)
        })?;
        progress.files += 1;
        Ok::<_, BackupError>(())
    };
    for snapshot in held {
        copy(snapshot)?;
    }
    let mut copied_later = 0;
    for file in later {
        if let Some(opened) = OpenDatabase::open(&file, DEFERRED_BUSY_TIMEOUT)? {
            copy(opened.begin_snapshot()?)?;
            copied_later += 1;
        }
    }
    target.commit()?;
    Ok(BackupSummary { files: progress.files, bytes: progress.bytes, deferred_files: copied_later })
}
