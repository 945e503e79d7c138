//! The slots that calls may take as they are accepted.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use kernel::Timestamp;
use runs::queue::{ClaimedRun, RunSlot, RunSlots};

use super::{
    claim::ClaimRequest,
    claim_turns::{ClaimHistory, ReadyWorkspace},
};

/// The slots that are offered now, for all writers of a process, and whose turn it is in the claims of its node.
#[derive(Default)]
pub(crate) struct OfferedSlots {
    slots: Mutex<Option<Arc<dyn RunSlots>>>,
    history: Arc<ClaimHistory>,
    /// False if nothing was due when the queue was last looked at. A hint: work of other nodes is found by the next claim.
    has_backlog: AtomicBool,
}

/// Slots with room, and the claim that they stand for.
pub(super) struct OpenSlots {
    pub(super) slots: Arc<dyn RunSlots>,
    pub(super) claim: ClaimRequest,
}

/// A run that has a slot from its first moment.
pub(crate) struct StartedRun {
    pub(super) run: ClaimedRun,
    pub(super) lease_until: Timestamp,
    pub(super) slot: Box<dyn RunSlot>,
}

impl OfferedSlots {
    fn slots(&self) -> MutexGuard<'_, Option<Arc<dyn RunSlots>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces what is offered.
    pub(super) fn offer(&self, slots: Option<Arc<dyn RunSlots>>) {
        // Dropped without the lock: it may be the last one to know the node's dispatcher.
        let _before = std::mem::replace(&mut *self.slots(), slots);
    }

    /// Returns the slots that are offered, if their node takes runs now.
    pub(super) fn open(&self) -> Option<OpenSlots> {
        let slots = self.slots().clone()?;
        let (node, clock, history) = (slots.node(), slots.clock(), self.history());
        let claim = ClaimRequest { node, limit: slots.limit()?, clock, history };
        Some(OpenSlots { slots, claim })
    }

    pub(super) fn has_backlog(&self) -> bool {
        self.has_backlog.load(Ordering::Relaxed)
    }

    pub(super) fn set_backlog(&self, has_backlog: bool) {
        self.has_backlog.store(has_backlog, Ordering::Relaxed);
    }

    pub(super) fn history(&self) -> Arc<ClaimHistory> {
        Arc::clone(&self.history)
    }

    /// Starts runs whose batch is committed.
    pub(super) fn start(&self, started: Vec<StartedRun>) {
        if started.is_empty() {
            return;
        }
        self.record_turns(started.iter().map(|started| &started.run));
        for StartedRun { run, lease_until, slot } in started {
            slot.start(run, lease_until);
        }
    }

    /// Records that the workspaces of claimed runs had a turn.
    pub(super) fn record_turns<'r>(&self, claimed: impl Iterator<Item = &'r ClaimedRun>) {
        let had_turn =
            |run: &ClaimedRun| ReadyWorkspace { workspace: run.workspace.uuid(), share: run.share };
        self.history.record(claimed.map(had_turn));
    }
}
