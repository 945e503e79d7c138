//! The slots that a dispatcher offers to calls as they are accepted.

use std::sync::Arc;

use kernel::{Clock, ShareId, Timestamp, id::NodeId};
use runs::queue::{ClaimLimit, ClaimedRun, RunQueue, RunSlot, RunSlots};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{MAX_CLAIM_BATCH, Shared, concurrency_limiter::Reservation};

/// An offer, which is withdrawn when it is dropped.
pub(super) struct Offer<'q>(&'q dyn RunQueue);

impl<'q> Offer<'q> {
    /// Offers the slots of a dispatcher to its queue.
    pub(super) fn new(work: &'q Arc<Shared>) -> Self {
        work.queue.offer_slots(Some(Arc::new(DispatcherSlots(Arc::clone(work)))));
        Self(&*work.queue)
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        self.0.offer_slots(None);
    }
}

struct DispatcherSlots(Arc<Shared>);

impl RunSlots for DispatcherSlots {
    fn node(&self) -> NodeId {
        self.0.node
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.0.clock)
    }

    fn limit(&self) -> Option<ClaimLimit> {
        self.0.limiter.claim_limit(MAX_CLAIM_BATCH)
    }

    fn reserve(&self, share: ShareId) -> Option<Box<dyn RunSlot>> {
        let reservation = self.0.limiter.try_reserve(share)?;
        let slot = DispatcherSlot { work: Arc::clone(&self.0), reservation, _task: self.0.tasks.token() };
        Some(Box::new(slot))
    }
}

/// A reserved slot. The shutdown waits for it as for a run that executes: the run may be in the database already.
struct DispatcherSlot {
    work: Arc<Shared>,
    reservation: Reservation,
    _task: TaskTrackerToken,
}

impl RunSlot for DispatcherSlot {
    fn start(self: Box<Self>, run: ClaimedRun, lease_until: Timestamp) {
        self.work.spawn_reserved(run, lease_until, self.reservation);
    }
}
