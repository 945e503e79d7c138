//! Recent statement time of each project. A project whose long statements used much time gets less of what
//! all projects share, until they use less (decision 0103).

use std::{
    hash::Hash,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use lru::LruCache;

/// A project that used more than this is over its share. Half of what it used is forgotten every [`HALF_LIFE`].
const MUCH: Duration = Duration::from_secs(1);
const HALF_LIFE: Duration = Duration::from_secs(1);
/// The most projects whose time is remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

/// The time that long statements took, by project.
#[derive(Debug)]
pub(crate) struct StatementTime<P: Hash + Eq> {
    /// Statements that take less are not counted, so that many short statements are not slowed down.
    short: Duration,
    used: LruCache<P, Used>,
}

#[derive(Clone, Copy, Debug)]
struct Used {
    time: Duration,
    at: Instant,
}

impl Used {
    /// Computes what is left of it now.
    fn now(self, now: Instant) -> Duration {
        let halves = now.saturating_duration_since(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.time.mul_f64(0.5_f64.powf(halves))
    }
}

impl<P: Hash + Eq + Clone> StatementTime<P> {
    /// Nothing used yet; statements of less than `short` are not counted.
    pub(crate) fn new(short: Duration) -> Self {
        Self { short, used: LruCache::new(REMEMBERED) }
    }

    /// Adds the time that a statement took.
    pub(crate) fn add(&mut self, project: &P, took: Duration, now: Instant) {
        if took > self.short {
            let before = self.used.get(project).map_or(Duration::ZERO, |used| used.now(now));
            self.used.put(project.clone(), Used { time: before + took, at: now });
        }
    }

    /// Returns true if the project used more than its share.
    pub(crate) fn is_over_share(&self, project: &P, now: Instant) -> bool {
        // Where no statement is long, nothing is looked up.
        !self.used.is_empty() && self.used.peek(project).is_some_and(|used| used.now(now) > MUCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn long_statements_count_and_are_forgotten() {
        let (mut time, now) = (StatementTime::new(SHORT), Instant::now());
        time.add(&1, MUCH, now);
        assert!(!time.is_over_share(&1, now));
        time.add(&1, MUCH, now);
        assert!(time.is_over_share(&1, now));
        assert!(!time.is_over_share(&2, now), "each project has its own");
        assert!(!time.is_over_share(&1, now + HALF_LIFE * 2));
    }

    #[test]
    fn short_statements_do_not_count() {
        let (mut time, now) = (StatementTime::new(SHORT), Instant::now());
        for _ in 0..1_000 {
            time.add(&1, SHORT, now);
        }
        assert!(!time.is_over_share(&1, now));
    }
}
