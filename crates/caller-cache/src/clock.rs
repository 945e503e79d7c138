//! The clock that the age of a poll is measured by.

use std::time::{Duration, Instant};

/// A clock that never goes back.
pub trait MonotonicClock: Send + Sync + 'static {
    /// Returns the time since a fixed moment.
    fn elapsed(&self) -> Duration;
}

/// The clock of the system.
#[derive(Debug, Clone, Copy)]
pub struct ProcessClock(Instant);

impl Default for ProcessClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl MonotonicClock for ProcessClock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
