//! The files of rows: one for each project, `SHARD/PROJECT.sqlite3` in the directory of its shard.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{BackupError, Sources};

/// A database to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its path in the backup.
    pub(crate) name: PathBuf,
}

/// The control plane's database. It goes where a server looks for it that is given the backup as its data directory.
pub(crate) fn control_plane(sources: &Sources) -> File {
    File { path: sources.control_plane.clone(), name: target_name().into() }
}

/// The name of the control plane's database in a data directory.
pub(crate) fn target_name() -> &'static str {
    "qala.db"
}

/// Every file of rows, in order.
pub(crate) fn rows(sources: &Sources) -> Result<Vec<File>, BackupError> {
    let mut files = Vec::new();
    for (shard, directory) in &sources.rows {
        // Two shards are never one directory: each has its own in the backup too.
        let place = if *shard == 0 { "rows".to_owned() } else { format!("rows-{shard}") };
        let place = Path::new(&place).join(shard.to_string());
        of_shard(&directory.join(shard.to_string()), &place, &mut files)?;
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn of_shard(directory: &Path, place: &Path, files: &mut Vec<File>) -> Result<(), BackupError> {
    let failed = |source| BackupError::List { path: directory.to_owned(), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // The first project makes it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        // A file without a page is being made: no project points at it yet.
        let is_made = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        if let Some(name) = path.file_name()
            && path.extension().is_some_and(|extension| extension == "sqlite3")
            && is_made
        {
            files.push(File { name: place.join(name), path });
        }
    }
    Ok(())
}

/// About how many bytes copies of these files take.
pub(crate) fn bytes(files: &[File]) -> u64 {
    files.iter().filter_map(|file| file.path.metadata().ok()).map(|metadata| metadata.len()).sum()
}
