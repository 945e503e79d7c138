//! Handing a process over to a caller that waits a moment for it (decision 0087).
//!
//! A few processes in turn run short code faster than many at once: each resets its memory after each invocation, and a
//! processor's caches hold the memory of few. Code that waits for the outside is not counted, so nobody waits for it.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::workload::WorkloadKey;

/// Age below which an invocation is expected to end soon, and time that a caller waits for it.
pub(super) const SHORT_INVOCATION: Duration = Duration::from_millis(4);

/// Callers of one workspace and kind that wait for a process, at most. More would not be served in that time, and their number is
/// up to strangers.
const MAX_WAITERS: usize = 64;

/// The invocations that compute, and the callers that wait for one of their processes.
pub(super) struct HandoverQueue<T> {
    /// Computing invocations of a workspace that keep the processors busy.
    threshold: usize,
    active: Vec<ActiveInvocation>,
    waiters: HashMap<WorkloadKey, VecDeque<oneshot::Sender<T>>>,
    last_id: u64,
}

struct ActiveInvocation {
    id: ActivityId,
    key: WorkloadKey,
    since: Instant,
}

/// The id of an invocation while it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ActivityId(u64);

impl<T> HandoverQueue<T> {
    pub(super) fn new(threshold: usize) -> Self {
        Self { threshold, active: Vec::new(), waiters: HashMap::new(), last_id: 0 }
    }

    /// Records that code begins to compute.
    pub(super) fn start(&mut self, key: WorkloadKey, now: Instant) -> ActivityId {
        self.last_id += 1;
        let id = ActivityId(self.last_id);
        self.active.push(ActiveInvocation { id, key, since: now });
        id
    }

    /// Records that it has ended, or waits for the outside.
    pub(super) fn finish(&mut self, id: ActivityId) {
        self.active.retain(|active| active.id != id);
    }

    /// Joins the queue for a process of the workspace, if enough of them are expected to be free soon.
    pub(super) fn try_wait(&mut self, key: WorkloadKey, now: Instant) -> Option<oneshot::Receiver<T>> {
        let is_short = |active: &&ActiveInvocation| {
            active.key == key && now.duration_since(active.since) < SHORT_INVOCATION
        };
        if self.active.iter().filter(is_short).count() < self.threshold {
            return None;
        }
        let line = self.waiters.entry(key).or_default();
        if line.len() >= MAX_WAITERS {
            return None;
        }
        let (turn, waiting) = oneshot::channel();
        line.push_back(turn);
        Some(waiting)
    }

    /// Removes the caller that has waited the longest for a process of the workspace.
    pub(super) fn pop_waiter(&mut self, key: WorkloadKey) -> Option<oneshot::Sender<T>> {
        let line = self.waiters.get_mut(&key)?;
        let next = std::iter::from_fn(|| line.pop_front()).find(|turn| !turn.is_closed());
        if line.is_empty() {
            self.waiters.remove(&key);
        }
        next
    }

    /// Removes the callers of a workspace that wait no more.
    pub(super) fn remove_closed(&mut self, key: WorkloadKey) {
        if let Some(line) = self.waiters.get_mut(&key) {
            line.retain(|turn| !turn.is_closed());
            if line.is_empty() {
                self.waiters.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;
    use crate::pool::WorkloadKind;

    fn ws(number: u128) -> WorkloadKey {
        let workspace: kernel::id::WorkspaceId = Id::from_uuid(Uuid::from_u128(number));
        WorkloadKey { workspace, kind: WorkloadKind::Run, share: workspace.into() }
    }

    #[test]
    fn nobody_waits_while_too_few_are_at_work() {
        let (mut handover, now) = (HandoverQueue::<()>::new(2), Instant::now());
        let first = handover.start(ws(1), now);
        handover.start(ws(2), now);
        assert!(handover.try_wait(ws(1), now).is_none());
        handover.start(ws(1), now);
        assert!(handover.try_wait(ws(1), now).is_some());
        assert!(handover.try_wait(ws(2), now).is_none(), "another workspace has one at work");
        let answer = WorkloadKey { kind: WorkloadKind::HttpRequest, ..ws(1) };
        assert!(handover.try_wait(answer, now).is_none(), "its place is of another kind");
        handover.finish(first);
        assert!(handover.try_wait(ws(1), now).is_none());
    }

    #[test]
    fn nobody_waits_for_long_code() {
        let (mut handover, now) = (HandoverQueue::<()>::new(1), Instant::now());
        handover.start(ws(1), now);
        assert!(handover.try_wait(ws(1), now + SHORT_INVOCATION / 2).is_some());
        assert!(handover.try_wait(ws(1), now + SHORT_INVOCATION).is_none());
    }

    #[test]
    fn the_longest_wait_of_the_workspace_is_next() {
        let (mut handover, now) = (HandoverQueue::new(1), Instant::now());
        handover.start(ws(1), now);
        let [gone, mut second, mut third] = [(); 3].map(|()| handover.try_wait(ws(1), now).unwrap());
        drop(gone);
        assert!(handover.pop_waiter(ws(2)).is_none());
        handover.pop_waiter(ws(1)).unwrap().send("second").unwrap();
        assert_eq!(second.try_recv(), Ok("second"));
        handover.pop_waiter(ws(1)).unwrap().send("third").unwrap();
        assert_eq!(third.try_recv(), Ok("third"));
        assert!(handover.pop_waiter(ws(1)).is_none() && handover.waiters.is_empty());
    }

    #[test]
    fn a_line_has_an_end() {
        let (mut handover, now) = (HandoverQueue::<()>::new(1), Instant::now());
        handover.start(ws(1), now);
        handover.start(ws(2), now);
        let line: Vec<_> =
            std::iter::from_fn(|| handover.try_wait(ws(1), now)).take(MAX_WAITERS + 1).collect();
        assert_eq!(line.len(), MAX_WAITERS);
        assert!(handover.try_wait(ws(2), now).is_some());
    }

    #[test]
    fn who_waits_no_more_is_forgotten() {
        let (mut handover, now) = (HandoverQueue::<()>::new(1), Instant::now());
        handover.start(ws(1), now);
        drop(handover.try_wait(ws(1), now));
        handover.remove_closed(ws(1));
        assert!(handover.waiters.is_empty());
    }
}
