//! Metrics of apps: added up in memory by app and minute, and written every few seconds.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::{
    Timestamp,
    id::{AppId, NodeId, WorkspaceId},
};
use observability::{
    AppMetrics, Measurement, MetricsLog, MetricsRecorder, Resolution,
    metrics::{MAX_ENTRIES, MetricsEntry, RequestEnding},
};
use tokio::{
    sync::Notify,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// Time between writes.
const FLUSH_INTERVAL: Duration = Duration::from_secs(10);
/// Entries in memory at which they are written at once.
const EARLY_FLUSH_ENTRIES: usize = 10_000;
/// Entries in memory; at most. Measurements of others are dropped and counted, which takes a store that cannot be written to.
const MAX_PENDING_ENTRIES: usize = 20_000;

/// Metrics that are not written yet.
#[derive(Debug, Default)]
pub struct AppMetricsBuffer {
    pending: Mutex<Pending>,
    /// Notified when there are [`EARLY_FLUSH_ENTRIES`].
    is_full: Notify,
}

/// Entries by app and minute. The workspace follows from the app.
#[derive(Debug, Default)]
struct Pending {
    entries: HashMap<(AppId, Timestamp), PendingEntry>,
    /// Measurements that found no room.
    dropped: u64,
}

/// The measurements of an app in a minute.
#[derive(Debug)]
struct PendingEntry {
    workspace: WorkspaceId,
    metrics: AppMetrics,
    has_responded: bool,
}

impl Pending {
    /// Returns the entry of an app and minute; `None` if there is no room for new ones.
    fn entry(&mut self, workspace: WorkspaceId, app: AppId, minute: Timestamp) -> Option<&mut PendingEntry> {
        let key = (app, minute);
        if self.entries.len() >= MAX_PENDING_ENTRIES && !self.entries.contains_key(&key) {
            return None;
        }
        let new = || PendingEntry { workspace, metrics: AppMetrics::default(), has_responded: false };
        Some(self.entries.entry(key).or_insert_with(new))
    }
}

impl AppMetricsBuffer {
    /// Takes what was recorded, the oldest minutes first, and the number of measurements that were dropped.
    fn take(&self) -> (Vec<MetricsEntry>, u64) {
        let Pending { entries, dropped } = mem::take(&mut *self.lock());
        let entry = |((app, minute), PendingEntry { workspace, metrics, has_responded })| MetricsEntry {
            workspace,
            app,
            minute,
            metrics,
            has_responded,
        };
        let mut entries: Vec<_> = entries.into_iter().map(entry).collect();
        // The store looks for the rows of all apps and all times of a chunk: with few times, these are few.
        entries.sort_unstable_by_key(|entry| (entry.minute, entry.app));
        (entries, dropped)
    }

    /// Puts entries back that were not written.
    fn put_back(&self, entries: &[MetricsEntry]) {
        for entry in entries {
            // Locked for each: whoever records meanwhile waits for one merge at most.
            let mut pending = self.lock();
            match pending.entry(entry.workspace, entry.app, entry.minute) {
                Some(pending) => {
                    pending.metrics.merge(&entry.metrics);
                    pending.has_responded |= entry.has_responded;
                }
                None => pending.dropped += measurements(&entry.metrics),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the number of measurements, without those of processor time.
fn measurements(metrics: &AppMetrics) -> u64 {
    metrics.requests.saturating_add(metrics.runs).saturating_add(metrics.retried_attempts)
}

impl MetricsRecorder for AppMetricsBuffer {
    fn record(&self, workspace: WorkspaceId, app: AppId, at: Timestamp, measurement: Measurement) {
        let minute = Resolution::Minute.start_of(at);
        let mut pending = self.lock();
        let has_responded =
            matches!(measurement, Measurement::Request { ending: RequestEnding::Responded, .. });
        match pending.entry(workspace, app, minute) {
            Some(entry) => {
                entry.metrics.add(measurement);
                entry.has_responded |= has_responded;
            }
            None => pending.dropped += 1,
        }
        let is_full = pending.entries.len() >= EARLY_FLUSH_ENTRIES;
        drop(pending);
        if is_full {
            self.is_full.notify_one();
        }
    }
}

/// Writes metrics of apps.
pub struct AppMetricsWriter {
    buffer: Arc<AppMetricsBuffer>,
    store: Arc<dyn MetricsLog>,
    node: NodeId,
}

impl AppMetricsWriter {
    /// Creates a worker that writes what `buffer` holds in rows of `node`, an id that no other process uses.
    #[must_use]
    pub fn new(buffer: Arc<AppMetricsBuffer>, store: Arc<dyn MetricsLog>, node: NodeId) -> Self {
        Self { buffer, store, node }
    }

    /// Writes the metrics every ten seconds, earlier if there are many, and once more at `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut ticks = interval(FLUSH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_writable = true;
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                _ = ticks.tick() => {}
                // A store that fails is given its time.
                () = self.buffer.is_full.notified(), if is_writable => {}
            }
            is_writable = self.flush().await;
        }
        if !self.flush().await {
            let (entries, _) = self.buffer.take();
            tracing::error!(entries = entries.len(), "metrics of apps are lost: they could not be written");
        }
    }

    /// Writes what was recorded; returns false if the store failed.
    async fn flush(&self) -> bool {
        let (entries, dropped) = self.buffer.take();
        if dropped > 0 {
            tracing::warn!(dropped, "measurements of apps were dropped: too many wait to be written");
        }
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            let (chunk, next) = rest.split_at(rest.len().min(MAX_ENTRIES));
            if let Err(error) = self.store.add_metrics(self.node, chunk).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot write metrics of apps");
                self.buffer.put_back(rest);
                return false;
            }
            rest = next;
        }
        true
    }
}

impl std::fmt::Debug for AppMetricsWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppMetricsWriter").field("node", &self.node).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use async_trait::async_trait;
    use kernel::{
        StoreError,
        testing::{at, id},
    };

    use super::*;

    const REQUEST: Measurement =
        Measurement::Request { ending: RequestEnding::Responded, duration: Duration::from_millis(3) };

    /// A store that adds up requests by app and minute, and counts calls.
    #[derive(Default)]
    struct FakeLog {
        is_away: AtomicBool,
        calls: AtomicUsize,
        requests: Mutex<HashMap<(AppId, Timestamp), u64>>,
    }

    #[async_trait]
    impl MetricsLog for FakeLog {
        async fn add_metrics(&self, node: NodeId, entries: &[MetricsEntry]) -> Result<(), StoreError> {
            assert!(node == id(77) && (1..=MAX_ENTRIES).contains(&entries.len()));
            self.calls.fetch_add(1, Ordering::Relaxed);
            if self.is_away.load(Ordering::Relaxed) {
                return Err(StoreError::Unavailable("away".into()));
            }
            let mut stored = self.requests.lock().unwrap();
            for entry in entries {
                *stored.entry((entry.app, entry.minute)).or_default() += entry.metrics.requests;
            }
            Ok(())
        }
    }

    impl FakeLog {
        fn total(&self) -> u64 {
            self.requests.lock().unwrap().values().sum()
        }
    }

    fn parts() -> (Arc<AppMetricsBuffer>, Arc<FakeLog>, AppMetricsWriter) {
        let (buffer, log) = (Arc::<AppMetricsBuffer>::default(), Arc::<FakeLog>::default());
        let writer = AppMetricsWriter::new(Arc::clone(&buffer), Arc::clone(&log) as _, id(77));
        (buffer, log, writer)
    }

    #[tokio::test]
    async fn entries_are_of_an_app_and_a_minute() {
        let (buffer, log, writer) = parts();
        for (app, millis) in [(1, 0), (1, 59_999), (2, 0), (1, 60_000), (1, 0)] {
            buffer.record(id(9), id(app), at(millis), REQUEST);
        }
        assert!(writer.flush().await);
        let expected = [((id(1), at(0)), 3), ((id(1), at(60_000)), 1), ((id(2), at(0)), 1)];
        assert_eq!(*log.requests.lock().unwrap(), HashMap::from(expected));
        assert!(writer.flush().await);
        assert_eq!((log.total(), log.calls.load(Ordering::Relaxed)), (5, 1), "nothing is written twice");
    }

    #[tokio::test]
    async fn what_was_not_written_is_written_later() {
        let (buffer, log, writer) = parts();
        for number in 0..200 {
            buffer.record(id(9), id(number), at(0), REQUEST);
        }
        log.is_away.store(true, Ordering::Relaxed);
        assert!(!writer.flush().await);
        assert_eq!(log.calls.load(Ordering::Relaxed), 1, "one failure ends the flush");
        buffer.record(id(9), id(0), at(0), REQUEST);
        log.is_away.store(false, Ordering::Relaxed);
        assert!(writer.flush().await);
        assert_eq!(log.total(), 201);
    }

    #[tokio::test]
    async fn memory_is_bounded_and_what_is_dropped_is_counted() {
        let (buffer, log, writer) = parts();
        for number in 0..MAX_PENDING_ENTRIES as u128 + 5 {
            buffer.record(id(9), id(number), at(0), REQUEST);
        }
        // An app that has an entry goes on.
        buffer.record(id(9), id(0), at(1), REQUEST);
        let (entries, dropped) = buffer.take();
        assert_eq!((entries.len(), dropped), (MAX_PENDING_ENTRIES, 5));
        buffer.record(id(9), id(1 << 100), at(0), REQUEST);
        buffer.put_back(&entries);
        let (again, dropped) = buffer.take();
        assert_eq!((again.len(), dropped), (MAX_PENDING_ENTRIES, 1), "the last one found no room");
        buffer.put_back(&again);
        assert!(writer.flush().await);
        assert_eq!(log.total(), MAX_PENDING_ENTRIES as u64 + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn it_writes_every_ten_seconds_early_when_full_and_at_the_shutdown() {
        let (buffer, log, writer) = parts();
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(writer.run(shutdown.clone()));
        let second = || tokio::time::sleep(Duration::from_secs(1));
        second().await;
        buffer.record(id(9), id(1), at(0), REQUEST);
        second().await;
        assert_eq!(log.total(), 0);
        tokio::time::sleep(FLUSH_INTERVAL).await;
        assert_eq!(log.total(), 1);
        for number in 0..EARLY_FLUSH_ENTRIES as u128 {
            buffer.record(id(9), id(number), at(0), REQUEST);
        }
        second().await;
        assert_eq!(log.total(), 1 + EARLY_FLUSH_ENTRIES as u64);
        // While the store fails, it is asked at its times only.
        log.is_away.store(true, Ordering::Relaxed);
        let before = log.calls.load(Ordering::Relaxed);
        for number in 0..EARLY_FLUSH_ENTRIES as u128 + 50 {
            buffer.record(id(9), id(number), at(0), REQUEST);
            if number >= EARLY_FLUSH_ENTRIES as u128 {
                tokio::task::yield_now().await;
            }
        }
        second().await;
        assert_eq!(log.calls.load(Ordering::Relaxed), before + 1);
        log.is_away.store(false, Ordering::Relaxed);
        shutdown.cancel();
        running.await.unwrap();
        assert_eq!(log.total(), 51 + 2 * EARLY_FLUSH_ENTRIES as u64);
    }
}
