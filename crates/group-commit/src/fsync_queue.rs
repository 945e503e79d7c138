//! Waiters for the disk, on a thread of its own: while it syncs, the writer writes its next batch.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

/// Callback that is called once everything that was committed until now is on the disk, or is known not to be.
pub type DurabilityWaiter = Box<dyn FnOnce(Result<(), SyncFailed>) + Send>;

/// A sync of the disk failed: nothing can be made durable until the process is started anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the disk failed to keep the log; the server must be started anew")]
pub struct SyncFailed;

/// Health of the disk: `true` once a sync has failed. A later sync does not make up for it, since the system takes the
/// pages for written.
#[derive(Debug, Clone, Default)]
pub struct SyncHealth(Arc<AtomicBool>);

impl SyncHealth {
    /// Checks that no sync has failed.
    ///
    /// # Errors
    /// Fails from the first failed sync on.
    pub fn check(&self) -> Result<(), SyncFailed> {
        if self.0.load(Ordering::Acquire) { Err(SyncFailed) } else { Ok(()) }
    }

    fn mark_failed(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The thread that syncs. It ends once this is dropped and every waiter was called.
#[derive(Debug)]
pub struct FsyncQueue {
    waiters: Sender<DurabilityWaiter>,
    health: SyncHealth,
}

impl FsyncQueue {
    /// Starts the thread. `sync` returns once everything that was written until its call is on the disk; it is not called
    /// again after it failed.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn start(sync: impl FnMut() -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let health = SyncHealth::default();
        let thread_health = health.clone();
        thread::Builder::new()
            .name("syncs".to_owned())
            .spawn(move || run_fsync_thread(sync, &receiver, &thread_health))?;
        Ok(Self { waiters: sender, health })
    }

    /// Returns the health of the disk, which outlives the queue.
    #[must_use]
    pub fn health(&self) -> SyncHealth {
        self.health.clone()
    }

    /// Calls `waiter` once everything that was committed until now is on the disk. Never blocks.
    pub fn enqueue(&self, waiter: DurabilityWaiter) {
        // The thread is gone only if a waiter panicked on it: what came after is not known to be durable.
        if let Err(rejected) = self.waiters.send(waiter) {
            (rejected.0)(Err(SyncFailed));
        }
    }
}

fn run_fsync_thread(
    mut sync: impl FnMut() -> io::Result<()>,
    waiters: &Receiver<DurabilityWaiter>,
    health: &SyncHealth,
) {
    while let Ok(first) = waiters.recv() {
        // All that came until now were committed until now: one sync serves them together.
        let mut served = vec![first];
        served.extend(waiters.try_iter());
        if health.check().is_ok()
            && let Err(error) = sync()
        {
            tracing::error!(%error, "the log cannot be synced; nothing more is accepted");
            health.mark_failed();
        }
        for waiter in served {
            waiter(health.check());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A disk whose syncs the test completes one by one.
    fn manual_disk() -> (FsyncQueue, Receiver<()>, Sender<io::Result<()>>) {
        let ((started, on_start), (complete, completed)) = (channel(), channel());
        let queue = FsyncQueue::start(move || {
            started.send(()).unwrap();
            completed.recv().unwrap()
        });
        (queue.unwrap(), on_start, complete)
    }

    fn enqueue(queue: &FsyncQueue, number: u32, log: &Sender<(u32, bool)>) {
        let log = log.clone();
        queue.enqueue(Box::new(move |synced| log.send((number, synced.is_ok())).unwrap()));
    }

    #[test]
    fn waiters_are_called_in_order_and_one_sync_serves_all_that_wait() {
        let (queue, on_start, complete) = manual_disk();
        let (log, called) = channel();
        enqueue(&queue, 0, &log);
        on_start.recv().unwrap();
        (1..10).for_each(|number| enqueue(&queue, number, &log));
        assert_eq!(called.try_recv(), Err(mpsc::TryRecvError::Empty), "the first sync is under way");
        complete.send(Ok(())).unwrap();
        assert_eq!(called.recv().unwrap(), (0, true));
        on_start.recv().unwrap();
        assert_eq!(called.try_recv(), Err(mpsc::TryRecvError::Empty), "they came after the first sync began");
        complete.send(Ok(())).unwrap();
        let all: Vec<_> = called.iter().take(9).collect();
        assert_eq!(all, (1..10).map(|number| (number, true)).collect::<Vec<_>>());
        assert!(on_start.try_recv().is_err(), "one sync is enough for nine");
    }

    #[test]
    fn a_sync_that_failed_is_not_made_up_for() {
        let (queue, on_start, complete) = manual_disk();
        let health = queue.health();
        let (log, called) = channel();
        assert_eq!(health.check(), Ok(()));
        complete.send(Err(io::ErrorKind::StorageFull.into())).unwrap();
        enqueue(&queue, 0, &log);
        assert_eq!(called.recv().unwrap(), (0, false));
        assert_eq!(health.check(), Err(SyncFailed));
        on_start.recv().unwrap();
        enqueue(&queue, 1, &log);
        assert_eq!(called.recv().unwrap(), (1, false));
        assert!(on_start.try_recv().is_err(), "the disk is not asked again");
        drop(queue);
        assert_eq!(health.check(), Err(SyncFailed));
    }

    #[test]
    fn waiters_are_called_after_the_queue_is_dropped() {
        let (queue, on_start, complete) = manual_disk();
        let (log, called) = channel();
        enqueue(&queue, 0, &log);
        on_start.recv().unwrap();
        enqueue(&queue, 1, &log);
        drop((queue, log));
        complete.send(Ok(())).unwrap();
        complete.send(Ok(())).unwrap();
        assert_eq!(called.iter().collect::<Vec<_>>(), [(0, true), (1, true)]);
    }
}
