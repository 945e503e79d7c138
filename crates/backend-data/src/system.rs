//! Time and randomness come in through these ports, so that ids and times can be tested.

use crate::timestamp::Micros;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Micros;
}

/// Gives bytes nobody can guess.
pub trait Random: Send + Sync + 'static {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// The machine's clock and randomness.
#[cfg(feature = "system")]
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

#[cfg(feature = "system")]
impl Clock for System {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Micros {
        Micros::new(chrono::Utc::now().timestamp_micros()).unwrap_or(Micros::EPOCH)
    }
}

#[cfg(feature = "system")]
impl Random for System {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks the system for randomness"
    )]
    #[expect(clippy::expect_used, reason = "a machine without randomness must not hand out ids")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives randomness");
    }
}
