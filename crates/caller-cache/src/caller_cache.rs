//! The cache: whether it may be trusted, and the polls that keep it so.

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Mutex;

use crate::{
    caches::Caches,
    clock::{MonotonicClock, ProcessClock},
    invalidations::Invalidations,
    source::ChangeSource,
    view::CacheView,
};

/// Age that the last poll of others' changes may have.
pub const MAX_STALENESS: Duration = Duration::from_millis(900);
/// Age from which on others' changes are polled beside the request that noticed.
pub const REFRESH_AFTER: Duration = Duration::from_millis(400);

/// The caches `C` of one process, kept fresh by polling `S`.
pub struct CallerCache<C, S, T = ProcessClock> {
    caches: C,
    source: S,
    clock: T,
    invalidations: Invalidations,
    /// Milliseconds of the clock at which the last poll that succeeded began, plus one; 0 before the first.
    last_poll: AtomicU64,
    /// Locked by a poll; the changes of the last one that were seen already.
    seen_change_ids: Mutex<HashSet<i64>>,
}

impl<C, S> CallerCache<C, S>
where
    C: Caches,
    S: ChangeSource<Change = C::Change>,
{
    /// Returns a cache that is not fresh before its first view.
    pub fn new(caches: C, source: S) -> Self {
        Self::with_clock(caches, source, ProcessClock::default())
    }
}

impl<C, S, T> CallerCache<C, S, T>
where
    C: Caches,
    S: ChangeSource<Change = C::Change>,
    T: MonotonicClock,
{
    /// Returns a cache with another clock.
    pub fn with_clock(caches: C, source: S, clock: T) -> Self {
        Self {
            caches,
            source,
            clock,
            invalidations: Invalidations::default(),
            last_poll: AtomicU64::new(0),
            seen_change_ids: Mutex::default(),
        }
    }

    /// Drops what this process wrote itself. Called after the commit and before anybody is told of it.
    pub fn invalidate(&self, changes: impl IntoIterator<Item = C::Change>) {
        for change in changes {
            self.invalidations.record(|| self.caches.invalidate(&change));
        }
    }

    /// Begins a reading of the caches, which is fresh if others' changes were polled lately or can be now.
    pub async fn view(self: &Arc<Self>) -> CacheView<'_, C> {
        let age = self.staleness();
        let is_fresh = if age < REFRESH_AFTER {
            true
        } else if age < MAX_STALENESS {
            self.poll_in_background();
            true
        } else {
            self.poll_unless_within(MAX_STALENESS).await
        };
        CacheView {
            caches: &self.caches,
            invalidations: &self.invalidations,
            count_before: self.invalidations.count(),
            is_fresh,
        }
    }

    /// Age of the last poll that succeeded.
    fn staleness(&self) -> Duration {
        match self.last_poll.load(Ordering::SeqCst).checked_sub(1) {
            Some(at) => self.clock.elapsed().saturating_sub(Duration::from_millis(at)),
            None => Duration::MAX,
        }
    }

    /// Polls others' changes beside the request, if nobody does already.
    fn poll_in_background(self: &Arc<Self>) {
        if self.seen_change_ids.try_lock().is_ok() {
            let cache = Arc::clone(self);
            tokio::spawn(async move { cache.poll_unless_within(REFRESH_AFTER).await });
        }
    }

    /// Polls others' changes unless somebody did within `age`; returns `true` if the cache is fresh after that.
    async fn poll_unless_within(&self, age: Duration) -> bool {
        let mut seen_ids = self.seen_change_ids.lock().await;
        if self.staleness() < age {
            return true;
        }
        let began_at = self.clock.elapsed();
        let changes = match self.source.recent_changes().await {
            Ok(changes) => changes,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot poll what other nodes changed: callers are read from the database"
                );
                return false;
            }
        };
        // Changes may have come and gone between this poll and the last one.
        if self.staleness() > S::LOOKBACK / 2 {
            self.invalidations.record(|| self.caches.invalidate_all());
        }
        let mut ids = HashSet::with_capacity(changes.len());
        for recorded in changes {
            ids.insert(recorded.id);
            if !seen_ids.contains(&recorded.id) {
                self.invalidate(recorded.change);
            }
        }
        *seen_ids = ids;
        let began_at_ms = u64::try_from(began_at.as_millis()).unwrap_or(u64::MAX - 1);
        self.last_poll.store(began_at_ms + 1, Ordering::SeqCst);
        true
    }
}

impl<C, S, T> fmt::Debug for CallerCache<C, S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerCache").field("invalidations", &self.invalidations).finish_non_exhaustive()
    }
}
