//! The log of a SQLite database, as a file to be synced.

use std::{
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
};

/// The write-ahead log of a SQLite database. It is one file for as long as anybody has the database open.
#[derive(Debug)]
pub struct WalFile {
    path: PathBuf,
    file: Option<File>,
}

impl WalFile {
    /// Names the log of a database; the file is opened at the first sync.
    #[must_use]
    pub fn for_database(database: &Path) -> Self {
        let mut path = OsString::from(database);
        path.push("-wal");
        Self { path: path.into(), file: None }
    }

    /// Returns once everything that was written to the log is on the disk.
    ///
    /// # Errors
    /// Fails if there is no log, or the disk fails.
    pub fn sync(&mut self) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        self.file.insert(file).sync_data()
    }

    /// Opens the log, which exists from the first commit on. Its directory entry must be durable as well.
    fn open(&self) -> io::Result<File> {
        let file = File::open(&self.path)?;
        // A path without a folder is in the current one.
        let folder = self.path.parent().filter(|folder| *folder != Path::new(""));
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_is_synced_once_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let mut wal = WalFile::for_database(&folder.path().join("db"));
        assert_eq!(wal.sync().unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(folder.path().join("db-wal"), "log").unwrap();
        wal.sync().unwrap();
        wal.sync().unwrap();
    }
}
