//! Slots for invocations. Runs, responses and checks have slots of their own, so that visits delay no run and runs delay no
//! visit; and one workspace never has all slots of a kind, however long its code sleeps or computes.

use std::collections::HashMap;

use kernel::id::WorkspaceId;
use runs::fair_share::can_acquire;

use super::fair_queue::FairQueue;

/// The kind of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WorkloadKind {
    /// A run of an automation.
    Run,
    /// A response over HTTP.
    HttpRequest,
    /// A check of a bundle.
    Check,
}

impl WorkloadKind {
    pub(super) const ALL: [Self; 3] = [Self::Run, Self::HttpRequest, Self::Check];
}

/// A workspace and a kind of invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WorkloadKey {
    pub(super) workspace: WorkspaceId,
    pub(super) kind: WorkloadKind,
}

/// The slots of one kind, and the queue for them.
pub(super) struct ConcurrencyLimiter<T> {
    capacity: usize,
    in_use: usize,
    in_use_by_workspace: HashMap<WorkspaceId, usize>,
    queue: FairQueue<T>,
}

impl<T> ConcurrencyLimiter<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, in_use: 0, in_use_by_workspace: HashMap::new(), queue: FairQueue::default() }
    }

    /// Returns the number of slots in use.
    pub(super) fn in_use(&self) -> usize {
        self.in_use
    }

    fn in_use_by(&self, workspace: WorkspaceId) -> usize {
        self.in_use_by_workspace.get(&workspace).copied().unwrap_or_default()
    }

    /// Returns true if a slot is free that the workspace may have.
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

    /// Returns true if the queue is not empty.
    pub(super) fn has_waiters(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Joins the queue. Returns false if it is full (`max`) or the workspace has its share of it (`max_here`), after waiters that
    /// are `gone` were removed.
    pub(super) fn enqueue(
        &mut self,
        workspace: WorkspaceId,
        item: T,
        (max, max_here): (usize, usize),
        gone: impl Fn(&T) -> bool,
    ) -> bool {
        self.queue.push(workspace, item, (max, max_here), gone)
    }

    /// Removes the next waiter whose workspace may have a slot. A slot that `releasing` has just freed stays with that workspace
    /// in case of doubt.
    pub(super) fn next_waiter(&mut self, releasing: Option<WorkspaceId>) -> Option<(WorkspaceId, T)> {
        let Self { capacity, in_use, in_use_by_workspace, queue } = self;
        let held = |workspace| in_use_by_workspace.get(&workspace).copied().unwrap_or_default();
        let free = capacity.saturating_sub(*in_use);
        queue.pop(releasing, held, |workspace| can_acquire(held(workspace), free))
    }
}
