use std::{io, path::PathBuf};

/// The reasons for which there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The directory has something in it.
    #[error("{} is not empty: name a directory that is new or empty", .0.display())]
    NotEmpty(PathBuf),
    /// The directory has what is left of a backup whose process was killed.
    #[error("{} holds a backup that was never finished: remove it, or name another directory", .0.display())]
    Unfinished(PathBuf),
    /// It is a file.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// The directory, or something in it, cannot be made or written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The path to write.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The disk is too small.
    #[error("the backup takes {needed} bytes, and {free} are free at {}", path.display())]
    InsufficientSpace {
        /// The directory.
        path: PathBuf,
        /// Bytes the backup takes.
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
        /// The system's error.
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
    /// Others write without a pause.
    #[error("{} was being written for {seconds} seconds without a pause: try again", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// Seconds waited for a pause.
        seconds: u64,
    },
    /// Projects are where nobody said.
    #[error("projects are on shard {0}: say where it is with --rows-shards, as you do for the server")]
    UnknownShard(u16),
    /// The caller ended it.
    #[error("the backup was stopped")]
    Stopped,
}
