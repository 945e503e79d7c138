//! Slots for invocations. Runs, responses and checks have slots of their own, so that visits delay no run and runs delay no
//! visit; and one share, the workspaces of one person, never has all slots of a kind, however long their code sleeps or
//! computes.

use std::collections::HashMap;

use kernel::ShareId;
use runs::fair_share::can_acquire;

use super::{
    fair_queue::{FairQueue, HeldSlots},
    workload::WorkloadKey,
};

/// The slots of one kind, and the queue for them.
pub(super) struct ConcurrencyLimiter<T> {
    capacity: usize,
    in_use: InUse,
    queue: FairQueue<T>,
}

/// Slots in use: in total, by share, and by workspace of a share.
#[derive(Default)]
struct InUse {
    total: usize,
    by_share: HashMap<ShareId, usize>,
    by_workspace: HashMap<WorkloadKey, usize>,
}

impl InUse {
    fn of_share(&self, share: ShareId) -> usize {
        self.by_share.get(&share).copied().unwrap_or_default()
    }

    fn of(&self, key: WorkloadKey) -> HeldSlots {
        let by_workspace = self.by_workspace.get(&key).copied().unwrap_or_default();
        HeldSlots { by_share: self.of_share(key.share), by_workspace }
    }
}

impl<T> ConcurrencyLimiter<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, in_use: InUse::default(), queue: FairQueue::default() }
    }

    /// Returns the number of slots in use.
    pub(super) fn in_use(&self) -> usize {
        self.in_use.total
    }

    /// Returns true if a slot is free that the share may have.
    pub(super) fn can_acquire(&self, share: ShareId) -> bool {
        can_acquire(self.in_use.of_share(share), self.capacity.saturating_sub(self.in_use.total))
    }

    pub(super) fn acquire(&mut self, key: WorkloadKey) {
        self.in_use.total += 1;
        *self.in_use.by_share.entry(key.share).or_default() += 1;
        *self.in_use.by_workspace.entry(key).or_default() += 1;
    }

    pub(super) fn release(&mut self, key: WorkloadKey) {
        if decrement(&mut self.in_use.by_workspace, &key) {
            decrement(&mut self.in_use.by_share, &key.share);
            self.in_use.total = self.in_use.total.saturating_sub(1);
        }
    }

    /// Returns true if the queue is not empty.
    pub(super) fn has_waiters(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Joins the queue. Returns false if it is full (`max`) or the share has its share of it (`max_here`), after waiters that
    /// are `gone` were removed.
    pub(super) fn enqueue(
        &mut self,
        key: WorkloadKey,
        item: T,
        (max, max_here): (usize, usize),
        gone: impl Fn(&T) -> bool,
    ) -> bool {
        self.queue.push(key, item, (max, max_here), gone)
    }

    /// Removes the next waiter whose share may have a slot. A slot that `releasing` has just freed stays with that workspace
    /// in case of doubt.
    pub(super) fn next_waiter(&mut self, releasing: Option<WorkloadKey>) -> Option<(WorkloadKey, T)> {
        let Self { capacity, in_use, queue } = self;
        let free = capacity.saturating_sub(in_use.total);
        queue.pop(releasing, |key| in_use.of(key), |share| can_acquire(in_use.of_share(share), free))
    }
}

/// Subtracts one from a count, and removes it at zero. Returns false if there is none.
fn decrement<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) -> bool {
    let Some(count) = counts.get_mut(key) else { return false };
    *count -= 1;
    if *count == 0 {
        counts.remove(key);
    }
    true
}
