//! Time as a port: use cases never read the wall clock themselves.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};

/// A moment in UTC, at most millisecond precise so that it survives every store and the wire unchanged.
pub type Timestamp = DateTime<Utc>;

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The present moment, truncated to milliseconds.
    fn now(&self) -> Timestamp;
}

/// A moment is a clock that stands still.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    fn now(&self) -> Timestamp {
        Utc::now().trunc_subsecs(3)
    }
}

/// A clock that stands still until it is moved; for tests.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock standing at `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.timestamp_millis()))
    }

    /// Moves the clock by `delta`, backwards when it is negative.
    pub fn advance(&self, delta: TimeDelta) {
        self.0.fetch_add(delta.num_milliseconds(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        DateTime::from_timestamp_millis(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}
