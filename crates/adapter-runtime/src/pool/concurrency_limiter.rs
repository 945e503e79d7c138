//! Slots for invocations. Runs, responses and checks have slots of their own, so that visits delay no run and runs delay no
//! visit; and one workspace, or one person of checks, never has all slots of a kind, however long its code sleeps or computes.

use std::collections::HashMap;

use kernel::id::{UserId, WorkspaceId};
use runs::fair_share::can_acquire;

use super::{fair_queue::FairQueue, share_id::ShareId};

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

/// A workspace, a kind of invocation, and who asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WorkloadKey {
    pub(super) workspace: WorkspaceId,
    pub(super) kind: WorkloadKind,
    /// Person whose share it takes; none if it takes the workspace's.
    pub(super) person: Option<UserId>,
}

impl WorkloadKey {
    /// Returns the share that an invocation takes. A check takes its person's: anybody can create workspaces.
    pub(super) fn share(self) -> ShareId {
        ShareId::of(self.person.map_or_else(|| self.workspace.uuid(), kernel::Id::uuid))
    }
}

/// The slots of one kind, and the queue for them.
pub(super) struct ConcurrencyLimiter<T> {
    capacity: usize,
    in_use: usize,
    in_use_by_share: HashMap<ShareId, usize>,
    queue: FairQueue<T>,
}

impl<T> ConcurrencyLimiter<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, in_use: 0, in_use_by_share: HashMap::new(), queue: FairQueue::default() }
    }

    /// Returns the number of slots in use.
    pub(super) fn in_use(&self) -> usize {
        self.in_use
    }

    fn in_use_by(&self, share: ShareId) -> usize {
        self.in_use_by_share.get(&share).copied().unwrap_or_default()
    }

    /// Returns true if a slot is free that the share may have.
    pub(super) fn can_acquire(&self, share: ShareId) -> bool {
        can_acquire(self.in_use_by(share), self.capacity.saturating_sub(self.in_use))
    }

    pub(super) fn acquire(&mut self, share: ShareId) {
        self.in_use += 1;
        *self.in_use_by_share.entry(share).or_default() += 1;
    }

    pub(super) fn release(&mut self, share: ShareId) {
        if let Some(held) = self.in_use_by_share.get_mut(&share) {
            self.in_use = self.in_use.saturating_sub(1);
            *held -= 1;
            if *held == 0 {
                self.in_use_by_share.remove(&share);
            }
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
        share: ShareId,
        item: T,
        (max, max_here): (usize, usize),
        gone: impl Fn(&T) -> bool,
    ) -> bool {
        self.queue.push(share, item, (max, max_here), gone)
    }

    /// Removes the next waiter whose share may have a slot. A slot that `releasing` has just freed stays with that share
    /// in case of doubt.
    pub(super) fn next_waiter(&mut self, releasing: Option<ShareId>) -> Option<T> {
        let Self { capacity, in_use, in_use_by_share, queue } = self;
        let held = |share| in_use_by_share.get(&share).copied().unwrap_or_default();
        let free = capacity.saturating_sub(*in_use);
        queue.pop(releasing, held, |share| can_acquire(held(share), free)).map(|(_, item)| item)
    }
}
