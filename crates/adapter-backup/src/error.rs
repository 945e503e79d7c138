use std::{io, path::PathBuf};

/// The reason for which a backup failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The directory is not empty.
    #[error("{} is not empty: name a directory that is new or empty", .0.display())]
    NotEmpty(PathBuf),
    /// The directory has the remains of a backup whose process was killed.
    #[error("{} holds a backup that was never finished: remove it, or name another directory", .0.display())]
    Unfinished(PathBuf),
    /// The path is a file.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The directory, or something in it, cannot be created or written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The path to write.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The disk does not have enough free space.
    #[error("the backup takes {needed} bytes, and {free} are free at {}", path.display())]
    InsufficientSpace {
        /// The directory.
        path: PathBuf,
        /// Bytes that the backup needs.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A database cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A directory of rows cannot be listed.
    #[error("{} cannot be listed", path.display())]
    List {
        /// The path.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A database cannot be copied.
    #[error("{} cannot be copied to {}", from.display(), to.display())]
    Copy {
        /// The original.
        from: PathBuf,
        /// The copy.
        to: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The write lock of a database was not free in time.
    #[error("{} was being written to for {seconds} seconds without a pause: try again", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// Seconds waited for a pause.
        seconds: u64,
    },
    /// A project is on a shard that the caller did not name.
    #[error("projects are on shard {0}: name it with --rows-shards, as for the server")]
    UnknownShard(u16),
    /// The caller stopped it.
    #[error("the backup was stopped")]
    Stopped,
}
