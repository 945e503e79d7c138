//! Recent statement time of each project. One whose long statements used much time gets less of what all use, until they
//! use less.
//!
//! See `docs/decisions/0103-share-readers-writers-and-connections-by-project.md` and
//! `0175-share-rows-by-person.md`.

use std::{
    hash::Hash,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use lru::LruCache;

/// Time beyond which a project is over its share. The time that it used decays by half every [`HALF_LIFE`].
const SHARE_LIMIT: Duration = Duration::from_secs(1);
const HALF_LIFE: Duration = Duration::from_secs(1);
/// Maximum number of projects whose time is tracked.
const MAX_PROJECTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

/// A tracker of the time that long statements of each project took.
#[derive(Debug)]
pub(crate) struct StatementTimeTracker<P: Hash + Eq> {
    /// Statements that take less are not counted, so that many short ones cost nothing.
    min_counted: Duration,
    usage: LruCache<P, DecayingTime>,
}

#[derive(Clone, Copy, Debug)]
struct DecayingTime {
    time: Duration,
    updated_at: Instant,
}

impl DecayingTime {
    /// Computes the time that is left at `now`.
    fn decayed_at(self, now: Instant) -> Duration {
        let halves = now.saturating_duration_since(self.updated_at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.time.mul_f64(0.5_f64.powf(halves))
    }
}

impl<P: Hash + Eq + Clone> StatementTimeTracker<P> {
    /// Creates a tracker that does not count statements of at most `short`.
    pub(crate) fn new(short: Duration) -> Self {
        Self { min_counted: short, usage: LruCache::new(MAX_PROJECTS) }
    }

    /// Adds the time that a statement took.
    pub(crate) fn add(&mut self, project: &P, took: Duration, now: Instant) {
        if took > self.min_counted {
            let before = self.usage.get(project).map_or(Duration::ZERO, |used| used.decayed_at(now));
            self.usage.put(project.clone(), DecayingTime { time: before + took, updated_at: now });
        }
    }

    /// Returns true if the project used more than its share.
    pub(crate) fn is_over_share(&self, project: &P, now: Instant) -> bool {
        // The usual case, without a lookup: no statement was long.
        !self.usage.is_empty()
            && self.usage.peek(project).is_some_and(|used| used.decayed_at(now) > SHARE_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn the_time_of_long_statements_counts_and_decays() {
        let (mut time, now) = (StatementTimeTracker::new(SHORT), Instant::now());
        time.add(&1, SHARE_LIMIT, now);
        assert!(!time.is_over_share(&1, now));
        time.add(&1, SHARE_LIMIT, now);
        assert!(time.is_over_share(&1, now));
        assert!(!time.is_over_share(&2, now), "each project has its own");
        assert!(!time.is_over_share(&1, now + HALF_LIFE * 2));
    }

    #[test]
    fn short_statements_do_not_count() {
        let (mut time, now) = (StatementTimeTracker::new(SHORT), Instant::now());
        for _ in 0..1_000 {
            time.add(&1, SHORT, now);
        }
        assert!(!time.is_over_share(&1, now));
    }
}
