//! What is promised to the outside waits for the disk, on a thread of its own: while it syncs SQLite's log, the lane
//! writes its next batch.

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

/// What is to be said once everything that was committed until now is on the disk, or is known not to be.
pub(super) type Promise = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Whether a sync has failed. What it left out a later one does not make up for: the system takes it for written.
#[derive(Clone, Default)]
pub(super) struct Disk(Arc<AtomicBool>);

impl Disk {
    /// An error once the disk has failed: then nothing more can be promised.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.0.load(Ordering::Acquire) { Err(lost()) } else { Ok(()) }
    }

    fn fail(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The thread that syncs; it ends with this.
pub(super) struct Promises {
    given: Sender<Promise>,
    disk: Disk,
}

impl Promises {
    /// Starts the thread, for a database that exists.
    pub(super) fn start(database: &Path) -> Result<Self, StoreError> {
        let (given, taken) = channel();
        let disk = Disk::default();
        let (log, its) = (Log::of(database), disk.clone());
        thread::Builder::new()
            .name("syncs".to_owned())
            .spawn(move || keep_all(log, &taken, &its))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Self { given, disk })
    }

    pub(super) fn disk(&self) -> Disk {
        self.disk.clone()
    }

    /// Keeps `promise` once everything that was committed until now is on the disk.
    pub(super) fn give(&self, promise: Promise) {
        if let Err(unkept) = self.given.send(promise) {
            (unkept.0)(Err(lost()));
        }
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable("the disk failed to keep the log; the server must be started anew".into())
}

fn keep_all(mut log: Log, taken: &Receiver<Promise>, disk: &Disk) {
    while let Ok(first) = taken.recv() {
        // All that were given until now were committed until now: one sync is for them together.
        let mut promises = vec![first];
        promises.extend(taken.try_iter());
        if disk.check().is_ok()
            && let Err(error) = log.sync()
        {
            tracing::error!(%error, "the log cannot be synced; nothing more is accepted");
            disk.fail();
        }
        for promise in promises {
            promise(disk.check());
        }
    }
}

/// The log of a database. It is one file for as long as anybody has the database open.
struct Log {
    path: PathBuf,
    file: Option<File>,
}

impl Log {
    fn of(database: &Path) -> Self {
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

    fn kept(promises: &Promises) -> bool {
        let (tell, told) = channel();
        promises.give(Box::new(move |synced| tell.send(synced.is_ok()).unwrap()));
        told.recv().unwrap()
    }

    #[test]
    fn promises_are_kept_in_order_after_a_sync() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("db-wal"), "log").unwrap();
        let promises = Promises::start(&folder.path().join("db")).unwrap();
        let (tell, told) = channel();
        for number in 0..10 {
            let tell = tell.clone();
            promises.give(Box::new(move |synced| tell.send((number, synced.is_ok())).unwrap()));
        }
        let all: Vec<_> = told.iter().take(10).collect();
        assert_eq!(all, (0..10).map(|number| (number, true)).collect::<Vec<_>>());
    }

    #[test]
    fn after_a_failure_nothing_is_promised() {
        let folder = tempfile::tempdir().unwrap();
        let promises = Promises::start(&folder.path().join("db")).unwrap();
        assert!(promises.disk().check().is_ok());
        assert!(!kept(&promises), "there is no log");
        fs::write(folder.path().join("db-wal"), "log").unwrap();
        assert!(!kept(&promises));
        assert!(promises.disk().check().is_err());
    }
}
