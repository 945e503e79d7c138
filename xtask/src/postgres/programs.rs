//! Finding the programs of PostgreSQL.

use std::{
    cmp::Reverse,
    fs,
    path::{Path, PathBuf},
};

use crate::shell;

/// Directory in which Debian and its derivatives have a folder for each major version.
const VERSIONED_DIR: &str = "/usr/lib/postgresql";

/// Programs that a cluster needs.
const REQUIRED_PROGRAMS: [&str; 2] = ["initdb", "postgres"];

/// Finds the folder with `initdb` and `postgres`: on PATH, or that of the newest version.
pub(super) fn find_server_dir() -> Option<PathBuf> {
    let on_path = shell::find_program("initdb").and_then(|initdb| initdb.parent().map(Path::to_owned));
    on_path.into_iter().chain(versioned_dirs()).find(|folder| is_complete(folder))
}

/// Finds a program of PostgreSQL on PATH or in a versioned folder.
pub(super) fn find_program(name: &str) -> Option<PathBuf> {
    let versioned = versioned_dirs().map(|folder| folder.join(name)).find(|program| shell::is_file(program));
    shell::find_program(name).or(versioned)
}

fn versioned_dirs() -> impl Iterator<Item = PathBuf> {
    newest_first(fs::read_dir(VERSIONED_DIR).into_iter().flatten().filter_map(Result::ok).map(|it| it.path()))
}

fn newest_first(folders: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
    let version = |folder: &PathBuf| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let mut folders = folders.filter_map(|folder| Some((version(&folder)?, folder))).collect::<Vec<_>>();
    folders.sort_by_key(|(version, _)| Reverse(*version));
    folders.into_iter().map(|(_, folder)| folder.join("bin"))
}

fn is_complete(folder: &Path) -> bool {
    REQUIRED_PROGRAMS.iter().all(|program| shell::is_file(&folder.join(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let folders = ["/pg/9", "/pg/17", "/pg/common", "/pg/16"].map(PathBuf::from).into_iter();
        let sorted = newest_first(folders).collect::<Vec<_>>();
        assert_eq!(sorted, ["/pg/17/bin", "/pg/16/bin", "/pg/9/bin"].map(PathBuf::from));
    }

    #[test]
    fn a_folder_without_the_server_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("initdb"), "").unwrap();
        assert!(!is_complete(folder.path()));
        fs::write(folder.path().join("postgres"), "").unwrap();
        assert!(is_complete(folder.path()));
    }
}
