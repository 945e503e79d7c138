//! Replies to the callers of a batch, and who else is told of it.

use std::sync::Arc;

use ::group_commit::DurabilityWaiter;
use kernel::StoreError;
use runs::webhooks::AcceptOutcome;
use tokio::sync::Notify;

use super::{
    batch::{BatchOutcome, WriteOp},
    slots::OfferedSlots,
};
use crate::events::notifier::EventNotifier;

/// Replies to callers, and wakes those who wait for what a batch wrote.
#[derive(Clone)]
pub(super) struct Replies {
    pub(super) queue_notify: Arc<Notify>,
    pub(super) event_notifier: Arc<EventNotifier>,
    pub(super) slots: Arc<OfferedSlots>,
}

impl Replies {
    /// Replies to callers: at once with what this process goes on with, and once it is durable with what callers outside
    /// rely on. Work that goes on may be ahead of the disk for a moment; should the power fail then, it is done again.
    pub(super) fn reply(
        &self,
        ops: impl Iterator<Item = WriteOp>,
        written: BatchOutcome,
    ) -> Option<DurabilityWaiter> {
        if written.has_ready_runs {
            self.queue_notify.notify_one();
        }
        self.slots.start(written.started);
        let (mut outcomes, mut lease_held) = (written.outcomes.into_iter(), written.lease_held.into_iter());
        let mut claimed = written.claimed.into_iter();
        let (mut accepted, mut refused) = (Vec::new(), Vec::new());
        for op in ops {
            match op {
                WriteOp::Accept(_, reply) => {
                    accepted.push((reply, outcomes.next().unwrap_or(AcceptOutcome::Stale)));
                }
                WriteOp::Refuse(_, reply) => refused.push(reply),
                WriteOp::Finish(_, _, reply) => drop(reply.send(Ok(lease_held.next().unwrap_or(false)))),
                WriteOp::Claim(_, reply) => drop(reply.send(Ok(claimed.next().unwrap_or_default()))),
            }
        }
        let (published, event_notifier) = (written.published_workspaces, Arc::clone(&self.event_notifier));
        if published.is_empty() && accepted.is_empty() && refused.is_empty() {
            return None;
        }
        Some(Box::new(move |durable| {
            event_notifier.wake(&published);
            let durable = || durable.map_err(|failed| StoreError::Unavailable(failed.into()));
            for (reply, verdict) in accepted {
                drop(reply.send(durable().map(|()| verdict)));
            }
            for reply in refused {
                drop(reply.send(durable()));
            }
        }))
    }
}

/// An error for each of those who wait: the cause of the first is in the log.
pub(super) fn clone_error(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(cause) => StoreError::Unavailable(cause.to_string().into()),
        other => StoreError::Failed(other.to_string().into()),
    }
}
