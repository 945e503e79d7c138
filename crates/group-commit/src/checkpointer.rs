//! Checkpoints of a write-ahead log beside its writer: the log is copied into the database while the writer goes on.
//!
//! A checkpoint by the writer holds up every caller for as long as it copies and syncs. One on another connection does
//! not; but only at a moment when nothing is left to copy does the log begin anew, so the writer still makes the last
//! one itself, of the little that came meanwhile.

use std::{
    error::Error,
    io,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

/// Commits between two looks at the log.
const COMMITS_PER_CHECK: u32 = 8;

/// The write-ahead log of a database, through a connection of its own.
pub trait Wal {
    /// Reason why the log could not be read or copied.
    type Error: Error;

    /// Returns the pages in the log.
    ///
    /// # Errors
    /// Fails if the database fails.
    fn pages(&mut self) -> Result<WalPages, Self::Error>;

    /// Copies into the database what can be copied without waiting for anybody.
    ///
    /// # Errors
    /// Fails if the database fails.
    fn copy(&mut self) -> Result<(), Self::Error>;
}

/// Pages in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalPages {
    /// Pages in the log.
    pub total: u64,
    /// Pages that were copied into the database already.
    pub copied: u64,
}

/// Pages at which a checkpoint is due.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointThresholds {
    /// Pages not copied yet at which they are copied.
    pub uncopied: u64,
    /// Pages in the log at which what came since is copied too: the writer's own checkpoint is near, and holds up every
    /// caller for as long as it takes.
    pub nearly_full: u64,
    /// Pages that are left for the writer's own checkpoint.
    pub min_uncopied: u64,
}

impl CheckpointThresholds {
    /// Copies the log if that is due.
    ///
    /// # Errors
    /// Fails if the log cannot be read or copied.
    pub fn checkpoint_if_due<W: Wal>(&self, wal: &mut W) -> Result<(), W::Error> {
        if self.is_due(wal.pages()?) { wal.copy() } else { Ok(()) }
    }

    fn is_due(&self, pages: WalPages) -> bool {
        let uncopied = pages.total.saturating_sub(pages.copied);
        uncopied >= self.uncopied || (pages.total >= self.nearly_full && uncopied >= self.min_uncopied)
    }
}

/// The thread that makes checkpoints. It ends once this is dropped.
#[derive(Debug)]
pub struct Checkpointer {
    wake: SyncSender<()>,
    commits: u32,
}

impl Checkpointer {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn start(thresholds: CheckpointThresholds, wal: impl Wal + Send + 'static) -> io::Result<Self> {
        let (wake, wakeups) = sync_channel(1);
        thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || run_checkpointer(thresholds, wal, &wakeups))?;
        Ok(Self { wake, commits: 0 })
    }

    /// Counts a commit; every eighth lets the thread look at the log. Never blocks.
    pub fn record_commit(&mut self) {
        self.commits = (self.commits + 1) % COMMITS_PER_CHECK;
        if self.commits == 0 {
            // Should it still be at work, it will look again at the latest after as many commits.
            let _ = self.wake.try_send(());
        }
    }
}

fn run_checkpointer(thresholds: CheckpointThresholds, mut wal: impl Wal, wakeups: &Receiver<()>) {
    while wakeups.recv().is_ok() {
        if let Err(error) = thresholds.checkpoint_if_due(&mut wal) {
            // The writer makes the next one.
            tracing::debug!(error = %error, "a checkpoint was not made");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    const THRESHOLDS: CheckpointThresholds =
        CheckpointThresholds { uncopied: 100, nearly_full: 150, min_uncopied: 5 };

    #[test]
    fn a_checkpoint_is_due_when_much_is_uncopied_or_the_log_is_nearly_full() {
        let is_due = |total, copied| THRESHOLDS.is_due(WalPages { total, copied });
        assert!(!is_due(99, 0));
        assert!(is_due(100, 0));
        assert!(!is_due(149, 60));
        assert!(is_due(150, 60));
        assert!(is_due(150, 145));
        assert!(!is_due(150, 146), "what is left is for the writer");
        assert!(!is_due(0, 7), "the log began anew between two readings");
    }

    /// A log that is always due, or that cannot be read.
    struct FakeWal {
        is_readable: bool,
        looks: Sender<&'static str>,
    }

    impl Wal for FakeWal {
        type Error = io::Error;

        fn pages(&mut self) -> io::Result<WalPages> {
            self.looks.send("look").unwrap();
            self.is_readable
                .then_some(WalPages { total: 200, copied: 0 })
                .ok_or(io::ErrorKind::NotFound.into())
        }

        fn copy(&mut self) -> io::Result<()> {
            self.looks.send("copy").map_err(io::Error::other)
        }
    }

    fn start(is_readable: bool) -> (Checkpointer, Receiver<&'static str>) {
        let (looks, looked) = channel();
        (Checkpointer::start(THRESHOLDS, FakeWal { is_readable, looks }).unwrap(), looked)
    }

    #[test]
    fn every_eighth_commit_looks_at_the_log() {
        let (mut checkpointer, looked) = start(true);
        (0..7).for_each(|_| checkpointer.record_commit());
        assert!(looked.try_recv().is_err());
        checkpointer.record_commit();
        assert_eq!([looked.recv().unwrap(), looked.recv().unwrap()], ["look", "copy"]);
        drop(checkpointer);
        assert_eq!(looked.recv().ok(), None, "the thread has ended");
    }

    #[test]
    fn a_log_that_cannot_be_read_is_looked_at_again() {
        let (mut checkpointer, looked) = start(false);
        for _ in 0..2 {
            (0..8).for_each(|_| checkpointer.record_commit());
            assert_eq!(looked.recv().unwrap(), "look");
        }
    }
}
