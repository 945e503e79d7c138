//! The progress of a backup, on a terminal.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    time::{Duration, Instant},
};

use adapter_backup::Progress;

/// Time between updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// A line on the terminal that is overwritten.
pub(super) struct ProgressLine {
    printed_at: Option<Instant>,
    is_terminal: bool,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self { printed_at: None, is_terminal: stderr().is_terminal() }
    }

    /// Prints the progress on a terminal, unless it just did.
    pub(super) fn update(&mut self, progress: Progress) {
        if self.is_terminal && self.printed_at.is_none_or(|said| said.elapsed() >= UPDATE_INTERVAL) {
            let Progress { files, total_files: of_files, bytes } = progress;
            // A lost terminal is no reason to stop.
            let _ = write!(stderr(), "\r{files} of {of_files} databases, {}\x1b[K", format_bytes(bytes));
            self.printed_at = Some(Instant::now());
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.printed_at.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// Formats a number of bytes for people.
pub(super) fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
