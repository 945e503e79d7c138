//! Time as a port: use cases never read the wall clock themselves.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};

/// A point in time in UTC, by convention at most millisecond precise, so that every store and the wire keep it unchanged.
pub type Timestamp = DateTime<Utc>;

/// The source of the time.
pub trait Clock: Send + Sync {
    /// Returns the current time, truncated to milliseconds.
    fn now(&self) -> Timestamp;
}

/// A clock that always shows this time.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}

/// The clock of the operating system.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    fn now(&self) -> Timestamp {
        Utc::now().trunc_subsecs(3)
    }
}

/// A clock that moves only by [`ManualClock::advance`]; for tests.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock that shows `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.timestamp_millis()))
    }

    /// Moves the clock by `delta`, backwards if it is negative.
    pub fn advance(&self, delta: TimeDelta) {
        self.0.fetch_add(delta.num_milliseconds(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        DateTime::from_timestamp_millis(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}
