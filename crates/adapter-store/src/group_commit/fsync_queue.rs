//! Outcomes that callers outside rely on wait for the disk, on a thread of its own: while it syncs SQLite's log, the
//! writer writes its next batch.

use std::{
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use kernel::StoreError;

/// Callback that is called once everything that was committed until now is on the disk, or is known not to be.
pub(super) type DurabilityWaiter = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Health of the disk: `true` once a sync has failed. A later sync does not make up for it, since the system takes the
/// pages for written.
#[derive(Clone, Default)]
pub(super) struct SyncHealth(Arc<AtomicBool>);

impl SyncHealth {
    /// Fails once the disk has failed: from then on nothing can be made durable.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.0.load(Ordering::Acquire) { Err(sync_failed()) } else { Ok(()) }
    }

    fn mark_failed(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The thread that syncs; it ends with this.
pub(super) struct FsyncQueue {
    sender: Sender<DurabilityWaiter>,
    sync_health: SyncHealth,
}

impl FsyncQueue {
    /// Starts the thread, for a database that exists.
    pub(super) fn start(database: &Path) -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let sync_health = SyncHealth::default();
        let (wal, health) = (WalFile::for_database(database), sync_health.clone());
        thread::Builder::new()
            .name("syncs".to_owned())
            .spawn(move || run_fsync_thread(wal, &receiver, &health))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Self { sender, sync_health })
    }

    pub(super) fn sync_health(&self) -> SyncHealth {
        self.sync_health.clone()
    }

    /// Calls `waiter` once everything that was committed until now is on the disk.
    pub(super) fn enqueue(&self, waiter: DurabilityWaiter) {
        if let Err(rejected) = self.sender.send(waiter) {
            (rejected.0)(Err(sync_failed()));
        }
    }
}

fn sync_failed() -> StoreError {
    StoreError::Unavailable("the disk failed to keep the log; the server must be started anew".into())
}

fn run_fsync_thread(mut wal: WalFile, receiver: &Receiver<DurabilityWaiter>, health: &SyncHealth) {
    while let Ok(first) = receiver.recv() {
        // All that were given until now were committed until now: one sync is for them together.
        let mut waiters = vec![first];
        waiters.extend(receiver.try_iter());
        if health.check().is_ok()
            && let Err(error) = wal.sync()
        {
            tracing::error!(%error, "the log cannot be synced; nothing more is accepted");
            health.mark_failed();
        }
        for waiter in waiters {
            waiter(health.check());
        }
    }
}

/// The log of a database. It is one file for as long as anybody has the database open.
struct WalFile {
    path: PathBuf,
    file: Option<File>,
}

impl WalFile {
    fn for_database(database: &Path) -> Self {
        let mut path = OsString::from(database);
        path.push("-wal");
        Self { path: path.into(), file: None }
    }

    fn sync(&mut self) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        self.file.insert(file).sync_data()
    }

    /// Opens it, at the first sync: with the first commit it is there. That it is must survive too.
    fn open(&self) -> io::Result<File> {
        let file = File::open(&self.path)?;
        // A path without a folder is in the one we are in.
        let folder = self.path.parent().filter(|folder| *folder != Path::new(""));
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn is_synced(queue: &FsyncQueue) -> bool {
        let (tell, told) = channel();
        queue.enqueue(Box::new(move |synced| tell.send(synced.is_ok()).unwrap()));
        told.recv().unwrap()
    }

    #[test]
    fn promises_are_kept_in_order_after_a_sync() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("db-wal"), "log").unwrap();
        let promises = FsyncQueue::start(&folder.path().join("db")).unwrap();
        let (tell, told) = channel();
        for number in 0..10 {
            let tell = tell.clone();
            promises.enqueue(Box::new(move |synced| tell.send((number, synced.is_ok())).unwrap()));
        }
        let all: Vec<_> = told.iter().take(10).collect();
        assert_eq!(all, (0..10).map(|number| (number, true)).collect::<Vec<_>>());
    }

    #[test]
    fn after_a_failure_nothing_is_promised() {
        let folder = tempfile::tempdir().unwrap();
        let promises = FsyncQueue::start(&folder.path().join("db")).unwrap();
        assert!(promises.sync_health().check().is_ok());
        assert!(!is_synced(&promises), "there is no log");
        fs::write(folder.path().join("db-wal"), "log").unwrap();
        assert!(!is_synced(&promises));
        assert!(promises.sync_health().check().is_err());
    }
}
