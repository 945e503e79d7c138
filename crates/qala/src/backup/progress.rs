//! The progress of a backup, on the terminal of whoever waits for it.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    time::{Duration, Instant},
};

use adapter_backup::Progress;

/// Time between two updates.
const EVERY: Duration = Duration::from_millis(200);

/// One line that is written over.
pub(super) struct Line {
    said: Option<Instant>,
    terminal: bool,
}

impl Line {
    pub(super) fn new() -> Self {
        Self { said: None, terminal: stderr().is_terminal() }
    }

    /// So much is copied.
    pub(super) fn at(&mut self, progress: Progress) {
        if self.terminal && self.said.is_none_or(|said| said.elapsed() >= EVERY) {
            let Progress { files, of_files, bytes } = progress;
            // A terminal that is gone is no reason to stop.
            let _ = write!(stderr(), "\r{files} of {of_files} databases, {}\x1b[K", size(bytes));
            self.said = Some(Instant::now());
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.said.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// So many bytes, for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
