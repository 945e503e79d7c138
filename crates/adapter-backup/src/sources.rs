//! Sources of a backup: the databases and files that it copies.

use std::{collections::BTreeMap, path::PathBuf};

/// Databases of an installation.
#[derive(Debug, Clone)]
pub struct BackupSources {
    /// Path of the control plane's database.
    pub control_plane: PathBuf,
    /// Directory of each shard of rows; empty if rows are not in SQLite.
    pub rows: BTreeMap<u16, PathBuf>,
    /// Shards that are not in SQLite, and not part of the backup.
    pub external_shards: Vec<u16>,
}
