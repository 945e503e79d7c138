//! Ports for time and randomness, so that tests can fix both.

use crate::timestamp::Micros;

/// A source of the current time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time. It may go backwards: ids of rows rise nonetheless.
    fn now(&self) -> Micros;
}

/// A source of random bytes that nobody can guess. Ids of rows are made from them.
pub trait Random: Send + Sync + 'static {
    /// Fills `bytes` with random bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// The clock and the random numbers of the operating system.
///
/// The random numbers are those of a generator of each thread, which the operating system seeds. [`Random::fill`] panics if
/// it has no randomness. A process that is forked after the first use repeats them: fork before, or bring a [`Random`].
#[cfg(feature = "system")]
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

#[cfg(feature = "system")]
impl Clock for System {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the only implementation that reads the system clock"
    )]
    fn now(&self) -> Micros {
        Micros::new(chrono::Utc::now().timestamp_micros()).unwrap_or(Micros::EPOCH)
    }
}

#[cfg(feature = "system")]
impl Random for System {
    // An import would call the operating system for each row.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the only implementation that reads the system's randomness"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        rand::Rng::fill_bytes(&mut rand::rng(), bytes);
    }
}
