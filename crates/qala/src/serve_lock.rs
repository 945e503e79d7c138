//! Locks that allow one server on SQLite data. The kernel releases them when the process ends, however it ends.
//!
//! `qala admin`, `rows`, `backup` and `doctor` take no lock: they work beside a running server.

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Seek as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use adapter_store::DatabaseUrl;
use anyhow::{Context as _, bail};
use rustix::{fs::FlockOperation, io::Errno};

use crate::config::RowsBackend;

/// The locks of a running server. Dropping them releases them.
#[derive(Debug)]
pub(crate) struct ServeLocks(#[expect(dead_code, reason = "held until they are dropped")] Vec<File>);

/// Locks the SQLite data: the control plane's database and the directories of rows.
///
/// # Errors
/// Fails if another server holds one of the locks.
pub(crate) fn acquire<'p>(
    database: &DatabaseUrl,
    rows: impl Iterator<Item = &'p RowsBackend>,
) -> anyhow::Result<ServeLocks> {
    let mut paths: Vec<PathBuf> = Vec::new();
    if let DatabaseUrl::Sqlite(path) = database {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        paths.push(name.into());
    }
    for location in rows {
        if let RowsBackend::Sqlite(directory) = location {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.with_context(|| format!("cannot create {}", directory.display()))?;
            paths.push(directory.join(".lock"));
        }
    }
    paths.iter().map(|path| lock_file(path)).collect::<anyhow::Result<_>>().map(ServeLocks)
}

fn lock_file(path: &Path) -> anyhow::Result<File> {
    let location = path.parent().unwrap_or(path);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let mut file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())?;
            Ok(file)
        }
        Err(Errno::WOULDBLOCK) => {
            let mut process = String::new();
            file.read_to_string(&mut process)?;
            bail!(
                "another Qala (process {}) serves {}: stop it, or start this one with another --data-dir",
                process.trim(),
                location.display(),
            )
        }
        // Some network file systems do not support locks. SQLite itself must not be used there.
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "cannot lock the data: do not start a second server on it");
            Ok(file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_server_is_refused_until_the_lock_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseUrl::Sqlite(folder.path().join("qala.db"));
        let rows = [RowsBackend::Sqlite(folder.path().join("rows"))];
        let first = acquire(&database, rows.iter()).unwrap();
        let refused = acquire(&database, rows.iter()).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        let elsewhere = DatabaseUrl::Sqlite(folder.path().join("other.db"));
        assert!(acquire(&elsewhere, rows.iter()).is_err(), "the directory of rows is the same");
        acquire(&elsewhere, std::iter::empty()).unwrap();
        drop(first);
        acquire(&database, rows.iter()).unwrap();
    }
}
