//! The directory of a backup. Everything is written to a directory inside, and moved into place once it is complete.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use crate::{BackupError, files};

/// Directory that everything is written to first.
const PARTIAL: &str = ".partial";
/// Directory that file systems have at their root.
const LOST_AND_FOUND: &str = "lost+found";

/// A backup in progress. Dropping it before [`Target::commit`] leaves the directory as it was.
#[derive(Debug)]
pub(crate) struct Target {
    directory: PathBuf,
    partial: PathBuf,
    /// True if the directory did not exist before.
    is_new_directory: bool,
    /// Paths that were moved into place.
    moved: Vec<PathBuf>,
    is_committed: bool,
}

impl Target {
    /// Claims a directory that is new or empty.
    pub(crate) fn new(directory: &Path) -> Result<Self, BackupError> {
        let unwritten = |source| BackupError::Write { path: directory.to_owned(), source };
        let made = match fs::read_dir(directory) {
            Ok(entries) => {
                let names: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name())).collect();
                let names = names.map_err(unwritten)?;
                if names.iter().any(|name| name == PARTIAL) {
                    return Err(BackupError::Unfinished(directory.to_owned()));
                }
                if names.iter().any(|name| name != LOST_AND_FOUND) {
                    return Err(BackupError::NotEmpty(directory.to_owned()));
                }
                false
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_dir(directory)?;
                true
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(BackupError::NotADirectory(directory.to_owned()));
            }
            Err(error) => return Err(unwritten(error)),
        };
        let partial = directory.join(PARTIAL);
        let target = Self {
            directory: directory.to_owned(),
            partial,
            is_new_directory: made,
            moved: Vec::new(),
            is_committed: false,
        };
        create_private_dir(&target.partial)?;
        Ok(target)
    }

    /// Fails if fewer than `needed` bytes are free.
    pub(crate) fn check_free_space(&self, needed: u64) -> Result<(), BackupError> {
        // Some file systems do not report free space; writing fails once they are full.
        let Ok(stat) = rustix::fs::statvfs(&self.partial) else { return Ok(()) };
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        if free < needed {
            return Err(BackupError::InsufficientSpace { path: self.directory.clone(), needed, free });
        }
        Ok(())
    }

    /// Returns the path to write a file to, and creates its directory.
    pub(crate) fn prepare_file(&self, name: &Path) -> Result<PathBuf, BackupError> {
        let path = self.partial.join(name);
        let mut missing: Vec<&Path> =
            path.ancestors().skip(1).take_while(|directory| !directory.is_dir()).collect();
        while let Some(directory) = missing.pop() {
            create_private_dir(directory)?;
        }
        Ok(path)
    }

    /// Moves everything into place and syncs it. The control plane's database comes last: it marks a complete backup.
    pub(crate) fn commit(mut self) -> Result<(), BackupError> {
        fsync_tree(&self.partial)?;
        let control_plane = OsStr::new(files::control_plane_file_name());
        let mut names = entry_names(&self.partial)?;
        names.sort_by_key(|name| name == control_plane);
        for name in names {
            let (from, to) = (self.partial.join(&name), self.directory.join(&name));
            fs::rename(from, &to).map_err(|source| BackupError::Write { path: to.clone(), source })?;
            self.moved.push(to);
        }
        let unwritten = |source| BackupError::Write { path: self.partial.clone(), source };
        fs::remove_dir(&self.partial).map_err(unwritten)?;
        fsync_dir(&self.directory)?;
        let parent = self.directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        fsync_dir(parent.unwrap_or(Path::new(".")))?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.is_committed {
            return;
        }
        // The error was reported already; anything that cannot be removed can be seen in the directory.
        for path in &self.moved {
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
        let _ = fs::remove_dir_all(&self.partial);
        if self.is_new_directory {
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

/// Creates a directory for its owner alone.
fn create_private_dir(path: &Path) -> Result<(), BackupError> {
    let made = fs::DirBuilder::new().mode(0o700).create(path);
    made.map_err(|source| BackupError::Write { path: path.to_owned(), source })
}

fn entry_names(directory: &Path) -> Result<Vec<std::ffi::OsString>, BackupError> {
    let read =
        || -> io::Result<Vec<_>> { fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect() };
    read().map_err(|source| BackupError::List { path: directory.to_owned(), source })
}

/// Syncs a directory and those below it, so that their entries survive a power failure.
fn fsync_tree(directory: &Path) -> Result<(), BackupError> {
    for name in entry_names(directory)? {
        let path = directory.join(name);
        if path.is_dir() {
            fsync_tree(&path)?;
        }
    }
    fsync_dir(directory)
}

fn fsync_dir(directory: &Path) -> Result<(), BackupError> {
    let synced = fs::File::open(directory).and_then(|file| file.sync_all());
    synced.map_err(|source| BackupError::Write { path: directory.to_owned(), source })
}
