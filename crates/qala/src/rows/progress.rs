//! How far a copy is, on the terminal of whoever waits for it.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    time::{Duration, Instant},
};

/// How often it is said on a terminal.
const EVERY: Duration = Duration::from_millis(200);

/// The rows of a table that are done.
pub(super) struct Counter {
    table: String,
    of: Option<u64>,
    rows: u64,
    said: Option<Instant>,
    terminal: bool,
}

impl Counter {
    pub(super) fn new(table: &str, of: Option<u64>) -> Self {
        let terminal = stderr().is_terminal();
        Self { table: table.to_owned(), of, rows: 0, said: None, terminal }
    }

    /// So many are done.
    pub(super) fn at(&mut self, rows: u64) {
        self.rows = rows;
        if self.terminal && self.said.is_none_or(|said| said.elapsed() >= EVERY) {
            self.say('\r');
            self.said = Some(Instant::now());
        }
    }

    fn say(&self, end: char) {
        let of = self.of.map(|of| format!(" of {of}")).unwrap_or_default();
        // A terminal that is gone is no reason to stop.
        let _ = write!(stderr(), "{}: {}{of} rows{end}", self.table, self.rows);
    }
}

impl Drop for Counter {
    /// The last word on a table is a line of its own, also where no terminal is.
    fn drop(&mut self) {
        self.say('\n');
    }
}
