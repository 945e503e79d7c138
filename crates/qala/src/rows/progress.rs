//! The progress of an export or import, on standard error.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    time::{Duration, Instant},
};

/// Time between updates on a terminal.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Counts the rows of one table.
pub(super) struct RowProgress {
    table: String,
    total: Option<u64>,
    rows: u64,
    printed_at: Option<Instant>,
    is_terminal: bool,
}

impl RowProgress {
    pub(super) fn new(table: &str, of: Option<u64>) -> Self {
        let terminal = stderr().is_terminal();
        Self { table: table.to_owned(), total: of, rows: 0, printed_at: None, is_terminal: terminal }
    }

    /// Records the number of rows so far; prints it on a terminal, unless it just did.
    pub(super) fn update(&mut self, rows: u64) {
        self.rows = rows;
        if self.is_terminal && self.printed_at.is_none_or(|said| said.elapsed() >= UPDATE_INTERVAL) {
            self.print('\r');
            self.printed_at = Some(Instant::now());
        }
    }

    fn print(&self, end: char) {
        let of = self.total.map(|of| format!(" of {of}")).unwrap_or_default();
        // A lost terminal is no reason to stop.
        let _ = write!(stderr(), "{}: {}{of} rows{end}", self.table, self.rows);
    }
}

impl Drop for RowProgress {
    /// Prints the final count on a line of its own, also without a terminal.
    fn drop(&mut self) {
        self.print('\n');
    }
}
