//! Refused calls of webhooks that are not written yet.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::TimeDelta;
use kernel::{
    Timestamp,
    id::{HookId, WorkspaceId},
};
use runs::webhooks::{RefusedCallCounter, RefusedCallsEntry};

/// Least time between two writes of one webhook.
const WRITE_INTERVAL: TimeDelta = TimeDelta::minutes(1);
/// Most webhooks that are counted at a time; refused calls of further ones are not counted.
const MAX_WEBHOOKS: usize = 10_000;

/// Counts of refused calls since they were last written.
#[derive(Default)]
pub struct RefusedCallsBuffer(Mutex<HashMap<HookId, Counted>>);

/// Refused calls of one webhook.
struct Counted {
    unwritten: RefusedCallsEntry,
    written_at: Option<Timestamp>,
}

impl RefusedCallsBuffer {
    /// Takes the counts that are due at `now`, and forgets webhooks that were not called for a while.
    pub(super) fn take_due(&self, now: Timestamp) -> Vec<RefusedCallsEntry> {
        let mut counted = self.lock();
        let is_due = |it: &Counted| it.written_at.is_none_or(|at| now - at >= WRITE_INTERVAL);
        counted.retain(|_, it| it.unwritten.calls > 0 || !is_due(it));
        let mut due = Vec::new();
        for it in counted.values_mut().filter(|it| it.unwritten.calls > 0 && is_due(it)) {
            due.push(it.unwritten);
            it.unwritten.calls = 0;
            it.written_at = Some(now);
        }
        // Two nodes that write lock rows in the same order.
        due.sort_unstable_by_key(|entry| entry.hook);
        due
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HookId, Counted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RefusedCallCounter for RefusedCallsBuffer {
    fn count_refused(&self, hook: HookId, workspace: WorkspaceId, code: &'static str, at: Timestamp) {
        let mut counted = self.lock();
        let is_full = counted.len() >= MAX_WEBHOOKS;
        match counted.get_mut(&hook) {
            Some(it) => {
                let calls = it.unwritten.calls + 1;
                it.unwritten = RefusedCallsEntry { hook, workspace, calls, last_at: at, code };
            }
            None if is_full => {}
            None => {
                let unwritten = RefusedCallsEntry { hook, workspace, calls: 1, last_at: at, code };
                counted.insert(hook, Counted { unwritten, written_at: None });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;

    fn count(buffer: &RefusedCallsBuffer, hook: u128, millis: i64) {
        buffer.count_refused(id(hook), id(1), "bad_signature", at(millis));
    }

    fn due(buffer: &RefusedCallsBuffer, millis: i64) -> Vec<(HookId, u64)> {
        buffer.take_due(at(millis)).into_iter().map(|entry| (entry.hook, entry.calls)).collect()
    }

    #[test]
    fn a_webhook_is_written_at_once_and_then_once_a_minute() {
        let buffer = RefusedCallsBuffer::default();
        count(&buffer, 7, 0);
        assert_eq!(due(&buffer, 1_000), [(id(7), 1)]);
        for millis in 2_000..5_000 {
            count(&buffer, 7, millis);
        }
        count(&buffer, 8, 5_000);
        assert_eq!(due(&buffer, 6_000), [(id(8), 1)]);
        assert_eq!(due(&buffer, 60_999), []);
        assert_eq!(due(&buffer, 61_000), [(id(7), 3_000)]);
        assert_eq!(due(&buffer, 200_000), []);
        assert!(buffer.lock().is_empty());
    }

    #[test]
    fn the_number_of_webhooks_is_bounded() {
        let buffer = RefusedCallsBuffer::default();
        for hook in 0..u128::try_from(MAX_WEBHOOKS).unwrap() + 5 {
            count(&buffer, hook + 1, 0);
        }
        assert_eq!(due(&buffer, 0).len(), MAX_WEBHOOKS);
    }
}
