//! Counts of requests by gate: gathered in memory, and added to the store every few seconds.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use connections::{
    calls::{CallLogEntry, CallSum},
    health::{Bucket, CallOutcome},
};
use kernel::{
    Timestamp,
    id::{GateId, WorkspaceId},
};
use tokio_util::sync::CancellationToken;

use crate::{ConnectionStore, run_at_interval};

/// Time between writes of the counts.
const FLUSH_INTERVAL: Duration = Duration::from_secs(5);
/// Gates and buckets that are counted at once; at most. Requests of others are not counted until the next write.
const MAX_ENTRIES: usize = 16_384;
/// Entries that are written at once.
const CHUNK_ENTRIES: usize = 200;

/// Counts of requests that are not written yet.
#[derive(Debug, Default)]
pub struct CallCounter(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    sums: HashMap<(WorkspaceId, GateId, Bucket), CallSum>,
    /// Requests that found no room.
    dropped: u64,
}

impl CallCounter {
    /// Counts one request.
    pub fn count(&self, workspace: WorkspaceId, gate: GateId, now: Timestamp, outcome: CallOutcome) {
        let mut counts = self.lock();
        let key = (workspace, gate, Bucket::of(now));
        if counts.sums.len() >= MAX_ENTRIES && !counts.sums.contains_key(&key) {
            counts.dropped += 1;
            return;
        }
        let sum = counts.sums.entry(key).or_default();
        sum.counts.count(outcome);
        if outcome != CallOutcome::Blocked {
            sum.last_call_at = sum.last_call_at.max(Some(now));
        }
    }

    /// Takes what was counted.
    fn take(&self) -> (Vec<CallLogEntry>, u64) {
        let counts = mem::take(&mut *self.lock());
        let entry = |((workspace, gate, bucket), sum)| CallLogEntry { workspace, gate, bucket, sum };
        (counts.sums.into_iter().map(entry).collect(), counts.dropped)
    }

    /// Puts entries back that were not written.
    fn put_back(&self, entries: &[CallLogEntry]) {
        let mut counts = self.lock();
        for entry in entries {
            let key = (entry.workspace, entry.gate, entry.bucket);
            let added = entry.sum.counts;
            if counts.sums.len() >= MAX_ENTRIES && !counts.sums.contains_key(&key) {
                counts.dropped += added.calls + added.blocked;
                continue;
            }
            let sum = counts.sums.entry(key).or_default();
            sum.counts.calls += added.calls;
            sum.counts.errors += added.errors;
            sum.counts.blocked += added.blocked;
            sum.last_call_at = sum.last_call_at.max(entry.sum.last_call_at);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the counts of requests.
pub struct CallCountWriter {
    counter: Arc<CallCounter>,
    store: Arc<dyn ConnectionStore>,
}

impl CallCountWriter {
    /// Creates a worker that writes what `counter` counts.
    #[must_use]
    pub fn new(counter: Arc<CallCounter>, store: Arc<dyn ConnectionStore>) -> Self {
        Self { counter, store }
    }

    /// Writes the counts every five seconds, and once more at `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        run_at_interval(FLUSH_INTERVAL, shutdown, || self.flush()).await;
        self.flush().await;
    }

    async fn flush(&self) {
        let (entries, dropped) = self.counter.take();
        if dropped > 0 {
            tracing::warn!(dropped, "requests were not counted: too many gates were used at once");
        }
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            // A store may write a long list in several steps; of a chunk it writes all or nothing.
            let (chunk, next) = rest.split_at(rest.len().min(CHUNK_ENTRIES));
            if let Err(error) = self.store.add_calls(chunk).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot write counts of requests");
                self.counter.put_back(rest);
                return;
            }
            rest = next;
        }
    }
}

impl std::fmt::Debug for CallCountWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallCountWriter").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;

    #[test]
    fn gates_are_counted_up_to_a_bound_and_what_was_not_written_is_counted_again() {
        let counter = CallCounter::default();
        for number in 0..MAX_ENTRIES as u128 + 5 {
            counter.count(id(1), id(number), at(0), CallOutcome::Succeeded);
        }
        // A gate that is counted already goes on.
        counter.count(id(1), id(0), at(1), CallOutcome::Failed);
        let (entries, dropped) = counter.take();
        assert_eq!((entries.len(), dropped), (MAX_ENTRIES, 5));
        assert_eq!(counter.take(), (Vec::new(), 0));

        counter.count(id(1), id(0), at(2), CallOutcome::Blocked);
        counter.put_back(&entries);
        let (again, dropped) = counter.take();
        assert_eq!((again.len(), dropped), (MAX_ENTRIES, 0));
        let sum = again.iter().find(|entry| entry.gate == id(0)).unwrap().sum;
        assert_eq!((sum.counts.calls, sum.counts.errors, sum.counts.blocked), (2, 1, 1));
        assert_eq!(sum.last_call_at, Some(at(1)), "a refused request was not sent");
    }
}
