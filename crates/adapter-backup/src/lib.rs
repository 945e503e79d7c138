//! Copies of SQLite data that servers go on writing: the control plane's database and the rows of backend projects.
//!
//! Each database is copied as it was at one moment (`snapshot`). The moments are chosen so that the files fit together
//! (`cut`). The directory has either the whole backup or nothing (`target`).

mod consistent_snapshot;
mod error;
mod files;
mod snapshot;
mod target;

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

pub use error::BackupError;

use crate::{
    consistent_snapshot::ConsistentSnapshot,
    snapshot::{OpenDatabase, Snapshot},
    target::Target,
};

/// Longest wait for the file of a project once nobody waits for the backup.
const DEFERRED_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The databases of an installation.
#[derive(Debug, Clone)]
pub struct BackupSources {
    /// The control plane's database.
    pub control_plane: PathBuf,
    /// The directory of each shard of rows; empty when rows are somewhere else.
    pub rows: BTreeMap<u16, PathBuf>,
    /// The shards that are somewhere else.
    pub external_shards: Vec<u16>,
}

/// The progress of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The databases that are copied.
    pub files: usize,
    /// All databases.
    pub total_files: usize,
    /// The bytes that are copied.
    pub bytes: u64,
}

/// A backup that is whole and on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupSummary {
    /// Databases in it.
    pub files: usize,
    /// Bytes it takes.
    pub bytes: u64,
    /// Databases that may be newer than the control plane's copy: there were too many to choose one moment for all.
    pub deferred_files: usize,
}

/// Makes a backup in a directory that is new or empty. `report` is called after each piece and may end the backup.
///
/// # Errors
/// Fails if something cannot be read or written, or `report` says so. The directory is then as it was.
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
