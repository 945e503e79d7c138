//! The moments at which databases are copied.
//!
//! Control plane and rows refer to each other. A run is recorded as ended once it wrote its rows; an audit row of a change is
//! in the project's outbox until the control plane has it; the record of a project comes after its file. All three hold in a
//! backup if nothing is committed to the control plane between its moment and those of the rows. So its turn to write is
//! taken while read transactions are begun on all files, which are open by then, and given back before the first is copied.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};

use crate::{
    BackupError, Sources,
    files::{self, File},
    snapshot::{Opened, Snapshot, connect},
};

/// Longest wait for the turn to write.
const WAIT: Duration = Duration::from_secs(10);
/// Time between two requests for it. SQLite's own waits grow, and would miss the short pauses of a busy server.
const ASK: Duration = Duration::from_micros(200);
/// Longest time the turn is held. Writers wait for it and give up after five seconds.
const HOLD: Duration = Duration::from_secs(1);
/// Most files open at once: each takes three descriptors and some memory.
const MOST_HELD: usize = 1_000;
/// Longest wait for one file while the turn is held.
const PATIENCE: Duration = Duration::from_millis(200);

/// The databases to copy.
pub(crate) struct Cut {
    /// Snapshots that fit together, the control plane's first: its log grows until it is copied.
    pub(crate) held: Vec<Snapshot>,
    /// Files that are opened only when they are copied.
    pub(crate) later: Vec<File>,
}

pub(crate) fn take(sources: &Sources) -> Result<Cut, BackupError> {
    let mut opened = opened(sources)?;
    let missing = || BackupError::List {
        path: sources.control_plane.clone(),
        source: std::io::ErrorKind::NotFound.into(),
    };
    let control_plane = Opened::open(&files::control_plane(sources), WAIT)?.ok_or_else(missing)?;
    let turn = Turn::take(&sources.control_plane)?;
    let begun = Instant::now();
    let control_plane = control_plane.begin()?;
    let mut cut = Cut { held: Vec::new(), later: Vec::new() };
    let shards = control_plane.numbers("SELECT DISTINCT shard FROM backend_projects")?;
    cut.held.push(control_plane);
    // Listed anew: a project may have been made since.
    for file in files::rows(sources)? {
        if begun.elapsed() > HOLD || cut.held.len() > MOST_HELD {
            cut.later.push(file);
            continue;
        }
        let snapshot = match opened.remove(&file.name) {
            Some(opened) => opened.begin().map(Some),
            None => Opened::open(&file, PATIENCE).and_then(|opened| opened.map(Opened::begin).transpose()),
        };
        match snapshot {
            Ok(snapshot) => cut.held.extend(snapshot),
            // It is busy, or out of descriptors: later it may not be.
            Err(_) => cut.later.push(file),
        }
    }
    drop(turn);
    for shard in shards.into_iter().filter_map(|shard| u16::try_from(shard).ok()) {
        if !sources.rows.contains_key(&shard) && !sources.elsewhere.contains(&shard) {
            return Err(BackupError::UnknownShard(shard));
        }
    }
    Ok(cut)
}

/// Files of rows by their names in the backup, opened before anybody has to wait for it.
fn opened(sources: &Sources) -> Result<BTreeMap<PathBuf, Opened>, BackupError> {
    let mut opened = BTreeMap::new();
    for file in files::rows(sources)?.into_iter().take(MOST_HELD) {
        // One that cannot be opened is tried again.
        if let Ok(Some(file_opened)) = Opened::open(&file, PATIENCE) {
            opened.insert(file.name, file_opened);
        }
    }
    Ok(opened)
}

/// The control plane's turn to write, until it is dropped; nothing is written with it.
struct Turn(#[expect(dead_code, reason = "held until it is dropped")] Connection);

impl Turn {
    #[expect(clippy::disallowed_methods, reason = "another process tells nobody that it has committed")]
    fn take(path: &Path) -> Result<Self, BackupError> {
        let failed = |source| BackupError::Read { path: path.to_owned(), source };
        let connection = connect(path, Duration::ZERO).map_err(failed)?;
        let begun = Instant::now();
        loop {
            match connection.execute_batch("BEGIN IMMEDIATE") {
                Ok(()) => return Ok(Self(connection)),
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                    if begun.elapsed() > WAIT {
                        return Err(BackupError::Busy { path: path.to_owned(), seconds: WAIT.as_secs() });
                    }
                    thread::sleep(ASK);
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }
}
