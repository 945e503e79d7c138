//! Places for code at work. Runs, answers and checks have places apart, so that visitors keep no run waiting and runs
//! no visitor; and of each kind one workspace never has all, however long its code sleeps or computes.

use std::collections::HashMap;

use kernel::id::WorkspaceId;
use runs::fair_share::can_acquire;

use super::fair_queue::FairQueue;

/// What code is at work for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WorkloadKind {
    /// A run.
    Run,
    /// An answer over HTTP.
    HttpRequest,
    /// A check of a bundle.
    Check,
}

impl WorkloadKind {
    pub(super) const ALL: [Self; 3] = [Self::Run, Self::HttpRequest, Self::Check];
}

/// Whose code is at work, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WorkloadKey {
    pub(super) workspace: WorkspaceId,
    pub(super) kind: WorkloadKind,
}

/// The places of one kind, and who waits for one.
pub(super) struct ConcurrencyLimiter<T> {
    capacity: usize,
    in_use: usize,
    in_use_by_workspace: HashMap<WorkspaceId, usize>,
    queue: FairQueue<T>,
}

impl<T> ConcurrencyLimiter<T> {
    pub(super) fn new(count: usize) -> Self {
        Self { capacity: count, in_use: 0, in_use_by_workspace: HashMap::new(), queue: FairQueue::default() }
    }

    /// How many are taken.
    pub(super) fn in_use(&self) -> usize {
        self.in_use
    }

    fn in_use_by(&self, workspace: WorkspaceId) -> usize {
        self.in_use_by_workspace.get(&workspace).copied().unwrap_or_default()
    }

    /// Whether a place is free that the workspace may have.
    pub(super) fn can_acquire(&self, workspace: WorkspaceId) -> bool {
        can_acquire(self.in_use_by(workspace), self.capacity.saturating_sub(self.in_use))
    }

    pub(super) fn acquire(&mut self, workspace: WorkspaceId) {
        self.in_use += 1;
        *self.in_use_by_workspace.entry(workspace).or_default() += 1;
    }

    pub(super) fn release(&mut self, workspace: WorkspaceId) {
        if let Some(held) = self.in_use_by_workspace.get_mut(&workspace) {
            self.in_use = self.in_use.saturating_sub(1);
            *held -= 1;
            if *held == 0 {
                self.in_use_by_workspace.remove(&workspace);
            }
        }
    }

    /// Whether anybody waits.
    pub(super) fn has_waiters(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Waits in turn; `false` when too many do, not counting those who are `gone`.
    pub(super) fn enqueue(
        &mut self,
        workspace: WorkspaceId,
        item: T,
        (max, max_here): (usize, usize),
        gone: impl Fn(&T) -> bool,
    ) -> bool {
        self.queue.push(workspace, item, (max, max_here), gone)
    }

    /// Who is next of those that may have a place; one that `releasing` has just given back stays with it rather than
    /// not.
    pub(super) fn next_waiter(&mut self, releasing: Option<WorkspaceId>) -> Option<(WorkspaceId, T)> {
        let Self { capacity: count, in_use: taken, in_use_by_workspace: held, queue } = self;
        let held = |workspace| held.get(&workspace).copied().unwrap_or_default();
        let free = count.saturating_sub(*taken);
        queue.pop(releasing, held, |workspace| can_acquire(held(workspace), free))
    }
}
