//! How far a copy is, on the terminal of whoever waits for it.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    time::{Duration, Instant},
};

/// How often it is said on a terminal.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// The rows of a table that are done.
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

    /// So many are done.
    pub(super) fn update(&mut self, rows: u64) {
        self.rows = rows;
        if self.is_terminal && self.printed_at.is_none_or(|said| said.elapsed() >= UPDATE_INTERVAL) {
            self.print('\r');
            self.printed_at = Some(Instant::now());
        }
    }

    fn print(&self, end: char) {
        let of = self.total.map(|of| format!(" of {of}")).unwrap_or_default();
        // A terminal that is gone is no reason to stop.
        let _ = write!(stderr(), "{}: {}{of} rows{end}", self.table, self.rows);
    }
}

impl Drop for RowProgress {
    /// The last word on a table is a line of its own, also where no terminal is.
    fn drop(&mut self) {
        self.print('\n');
    }
}
