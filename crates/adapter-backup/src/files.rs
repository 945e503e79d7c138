//! Files of rows, one for each project: `SHARD/PROJECT.sqlite3` in the directory of its shard.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{BackupError, BackupSources};

/// A database to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatabaseFile {
    pub(crate) path: PathBuf,
    /// Path relative to the directory of the backup.
    pub(crate) backup_path: PathBuf,
}

/// Returns the control plane's database. Its backup has the name that a server expects in its data directory.
pub(crate) fn control_plane_file(sources: &BackupSources) -> DatabaseFile {
    DatabaseFile { path: sources.control_plane.clone(), backup_path: control_plane_file_name().into() }
}

/// File name of the control plane's database in a data directory.
pub(crate) fn control_plane_file_name() -> &'static str {
    "qala.db"
}

/// Lists every file of rows, in order.
pub(crate) fn list_row_files(sources: &BackupSources) -> Result<Vec<DatabaseFile>, BackupError> {
    let mut files = Vec::new();
    for (shard, directory) in &sources.rows {
        // Shards never share a directory, so each has its own in the backup too.
        let backup_directory = if *shard == 0 { "rows".to_owned() } else { format!("rows-{shard}") };
        let backup_directory = Path::new(&backup_directory).join(shard.to_string());
        list_shard_files(&directory.join(shard.to_string()), &backup_directory, &mut files)?;
    }
    files.sort_by(|a, b| a.backup_path.cmp(&b.backup_path));
    Ok(files)
}

fn list_shard_files(
    directory: &Path,
    backup_directory: &Path,
    files: &mut Vec<DatabaseFile>,
) -> Result<(), BackupError> {
    let failed = |source| BackupError::List { path: directory.to_owned(), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // It is created with the first project.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        // A file without pages is just being created: no project refers to it yet.
        let has_pages = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        if let Some(name) = path.file_name()
            && path.extension().is_some_and(|extension| extension == "sqlite3")
            && has_pages
        {
            files.push(DatabaseFile { backup_path: backup_directory.join(name), path });
        }
    }
    Ok(())
}

/// Returns the approximate size of copies of these files, in bytes.
pub(crate) fn total_bytes(files: &[DatabaseFile]) -> u64 {
    files.iter().filter_map(|file| file.path.metadata().ok()).map(|metadata| metadata.len()).sum()
}
