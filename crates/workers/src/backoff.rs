//! Exponential backoff with jitter, so that nodes do not retry in step.

use std::time::Duration;

use kernel::Randomness;

/// First delay, before jitter.
const INITIAL_DELAY: Duration = Duration::from_millis(100);
/// Number of times the delay doubles; it grows up to 6.4 seconds.
const MAX_DOUBLINGS: u32 = 6;

/// Number of failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    /// Counts a failure and returns the delay before the next try: a random time between half and all of 100 ms,
    /// 200 ms, … 6.4 s.
    pub(crate) fn next_delay(&mut self, random: &dyn Randomness) -> Duration {
        let whole = INITIAL_DELAY * 2_u32.pow(self.0.min(MAX_DOUBLINGS));
        self.0 = self.0.saturating_add(1);
        let half = whole / 2;
        half + Duration::from_millis(random.below(u32::try_from(half.as_millis()).unwrap_or(u32::MAX)).into())
    }

    pub(crate) fn reset(&mut self) {
        self.0 = 0;
    }

    /// Returns true after the first failure in a row, the only one to log.
    pub(crate) fn is_first_failure(&self) -> bool {
        self.0 == 1
    }
}

#[cfg(test)]
mod tests {
    use kernel::SeededRandomness;

    use super::*;

    #[test]
    fn the_wait_doubles_to_a_bound() {
        let random = SeededRandomness::new(1);
        let mut backoff = Backoff::default();
        for whole in [100, 200, 400, 800, 1600, 3200, 6400, 6400, 6400] {
            let wait = backoff.next_delay(&random).as_millis();
            assert!((whole / 2..=whole).contains(&wait), "{wait} of {whole}");
        }
        backoff.reset();
        assert!(backoff.next_delay(&random) <= INITIAL_DELAY);
        assert!(backoff.is_first_failure());
    }
}
