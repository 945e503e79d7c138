//! The leases that this node holds.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::{Timestamp, id::RunId};
use tokio::task::AbortHandle;

/// Leases of claimed runs whose task has not ended.
#[derive(Default)]
pub(super) struct LeaseTable(Mutex<HashMap<RunId, Lease>>);

struct Lease {
    attempt: u32,
    expires_at: Timestamp,
    /// False once the outcome is being written: the lease then runs out.
    is_renewable: bool,
    /// `None` only while the task is being started.
    task: Option<AbortHandle>,
}

impl Lease {
    fn abort(&self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Entry of one run in a [`LeaseTable`]; dropping it removes the run, however its task ends.
pub(super) struct LeaseGuard {
    table: Arc<LeaseTable>,
    run: RunId,
    attempt: u32,
}

impl LeaseTable {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a lease that expires at `until`, and starts the task that holds it.
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
            // An attempt of this node whose lease was lost and claimed here again before the task was aborted.
            older.abort();
        }
        // Started without the lock: a runtime that shuts down drops the task at once, and its guard with it.
        let task = start(hold);
        if let Some(entry) = self.lock().get_mut(&run).filter(|entry| entry.attempt == attempt) {
            entry.task = Some(task);
        }
    }

    /// Returns the runs whose leases are to be extended.
    pub(super) fn renewable_runs(&self) -> Vec<RunId> {
        self.lock().iter().filter(|(_, entry)| entry.is_renewable).map(|(run, _)| *run).collect()
    }

    /// Moves the expiry of the `kept` runs among those `asked` about to `until`, and stops and returns the others.
    pub(super) fn apply_extension(&self, asked: &[RunId], kept: &[RunId], until: Timestamp) -> Vec<RunId> {
        let kept: HashSet<_> = kept.iter().copied().collect();
        let mut runs = self.lock();
        let mut lost = Vec::new();
        for run in asked {
            // A run that is no longer renewable is writing its outcome, which will show whether the lease held.
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

    /// Stops and returns the runs among those `asked` about that are not `held`.
    pub(super) fn abort_lost(&self, asked: &[RunId], held: &[RunId]) -> Vec<RunId> {
        let runs = self.lock();
        let is_lost = |run: &&RunId| {
            // As in an extension, a run whose outcome is being written is left to that.
            let Some(entry) = runs.get(run).filter(|entry| entry.is_renewable && !held.contains(run)) else {
                return false;
            };
            entry.abort();
            true
        };
        asked.iter().filter(is_lost).copied().collect()
    }

    /// Stops every task and returns its run.
    pub(super) fn abort_all(&self) -> Vec<RunId> {
        let runs = self.lock();
        for entry in runs.values() {
            entry.abort();
        }
        runs.keys().copied().collect()
    }
}

impl LeaseGuard {
    /// Stops the renewal of the lease; returns the time at which it expires, or `None` if it is held no more.
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
