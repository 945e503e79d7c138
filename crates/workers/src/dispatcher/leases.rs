//! The runs this node holds now.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::{Timestamp, id::RunId};
use tokio::task::AbortHandle;

/// Runs that were claimed and whose task has not ended.
#[derive(Default)]
pub(super) struct LeaseTable(Mutex<HashMap<RunId, Lease>>);

struct Lease {
    attempt: u32,
    expires_at: Timestamp,
    /// Whether the lease is still to be extended.
    is_renewable: bool,
    /// None only while the task is being started.
    task: Option<AbortHandle>,
}

impl Lease {
    fn abort(&self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// One run in [`Held`]; dropping it takes the run out, however its task ends.
pub(super) struct LeaseGuard {
    table: Arc<LeaseTable>,
    run: RunId,
    attempt: u32,
}

impl LeaseTable {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a task that holds a run until `until`.
    pub(super) fn insert(
        self: &Arc<Self>,
        run: RunId,
        attempt: u32,
        until: Timestamp,
        start: impl FnOnce(LeaseGuard) -> AbortHandle,
    ) {
        let hold = LeaseGuard { table: Arc::clone(self), run, attempt };
        let known =
            self.lock().insert(run, Lease { attempt, expires_at: until, is_renewable: true, task: None });
        if let Some(older) = known {
            // An attempt of ours that was lost, and came back to us before it was stopped.
            older.abort();
        }
        // Started without the lock: a runtime that shuts down drops the task at once, and its hold with it.
        let task = start(hold);
        if let Some(entry) = self.lock().get_mut(&run).filter(|entry| entry.attempt == attempt) {
            entry.task = Some(task);
        }
    }

    /// The runs whose leases are to be extended.
    pub(super) fn renewable_runs(&self) -> Vec<RunId> {
        self.lock().iter().filter(|(_, entry)| entry.is_renewable).map(|(run, _)| *run).collect()
    }

    /// Of the runs that were `asked` for, moves on the leases of those that were `kept` and stops the others; which.
    pub(super) fn apply_extension(&self, asked: &[RunId], kept: &[RunId], until: Timestamp) -> Vec<RunId> {
        let kept: HashSet<_> = kept.iter().copied().collect();
        let mut runs = self.lock();
        let mut lost = Vec::new();
        for run in asked {
            // What is not open any more has come to its end meanwhile, which tells whose it is.
            let Some(entry) = runs.get_mut(run).filter(|entry| entry.is_renewable) else { continue };
            if kept.contains(run) {
                entry.expires_at = until;
            } else {
                entry.abort();
                lost.push(*run);
            }
        }
        lost
    }

    /// Stops every task; whose.
    pub(super) fn abort_all(&self) -> Vec<RunId> {
        let runs = self.lock();
        for entry in runs.values() {
            entry.abort();
        }
        runs.keys().copied().collect()
    }
}

impl LeaseGuard {
    /// Lets the lease run out; when that is.
    pub(super) fn stop_renewal(&self) -> Option<Timestamp> {
        let mut runs = self.table.lock();
        let entry = runs.get_mut(&self.run).filter(|entry| entry.attempt == self.attempt)?;
        entry.is_renewable = false;
        Some(entry.expires_at)
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        let mut runs = self.table.lock();
        if runs.get(&self.run).is_some_and(|entry| entry.attempt == self.attempt) {
            runs.remove(&self.run);
        }
    }
}
