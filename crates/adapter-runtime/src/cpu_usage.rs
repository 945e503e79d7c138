//! Recent processor time of the app code of each share, the workspaces of one person. Where several run code, the code of those
//! that use the most yields to everything else on the machine, from its first instruction (decision 0133).
//!
//! Time is weighted by forward decay: later use weighs more, by a factor that doubles every [`HALF_LIFE`]. Old values need no
//! update to be compared, and the maximum over all shares is known at once.
//! See `docs/decisions/0133-lower-the-priority-of-long-computations.md`.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kernel::ShareId;

/// Time in which a use loses half of its weight.
const HALF_LIFE: Duration = Duration::from_secs(1);
/// Weighted time below which nobody is over their share. Who uses a tenth of a processor all the time stays
/// below it.
const ALWAYS_ALLOWED: Duration = Duration::from_millis(150);
/// Part of the busiest share's time from which another is over what it may use.
const OVER_SHARE_RATIO: f64 = 2.0 / 3.0;
/// Time after which the weights start from one again, before they are too large for a float. Shares with
/// [`NEGLIGIBLE`] time are removed then.
const REBASE_INTERVAL: Duration = Duration::from_secs(60);
/// Processor time that is too little to keep.
const NEGLIGIBLE: Duration = Duration::from_micros(100);

/// The recent processor time of all shares.
pub(crate) struct CpuUsage(Mutex<DecayedUsage>);

struct DecayedUsage {
    /// The time at which the weight is one.
    landmark: Instant,
    weighted_seconds: HashMap<ShareId, f64>,
    /// The maximum of `weighted_seconds`.
    max_seconds: f64,
}

impl DecayedUsage {
    fn weight(&self, now: Instant) -> f64 {
        (now.saturating_duration_since(self.landmark).as_secs_f64() / HALF_LIFE.as_secs_f64()).exp2()
    }

    /// Makes `now` the landmark.
    fn rebase(&mut self, now: Instant) {
        let weight = self.weight(now);
        self.weighted_seconds.values_mut().for_each(|seconds| *seconds /= weight);
        self.weighted_seconds.retain(|_, seconds| *seconds > NEGLIGIBLE.as_secs_f64());
        self.max_seconds = self.weighted_seconds.values().copied().fold(0.0, f64::max);
        self.landmark = now;
    }
}

impl CpuUsage {
    pub(crate) fn new(now: Instant) -> Self {
        Self(Mutex::new(DecayedUsage { landmark: now, weighted_seconds: HashMap::new(), max_seconds: 0.0 }))
    }

    fn lock(&self) -> MutexGuard<'_, DecayedUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds processor time that code of the share has used.
    pub(crate) fn record(&self, share: ShareId, used: Duration, now: Instant) {
        let mut weighted = self.lock();
        if now.saturating_duration_since(weighted.landmark) > REBASE_INTERVAL {
            weighted.rebase(now);
        }
        let used = used.as_secs_f64() * weighted.weight(now);
        let seconds = weighted.weighted_seconds.entry(share).or_default();
        *seconds += used;
        let seconds = *seconds;
        weighted.max_seconds = weighted.max_seconds.max(seconds);
    }

    /// Returns true if the share is one of those that used the most, and used more than [`ALWAYS_ALLOWED`]. One that is alone never
    /// is.
    pub(crate) fn is_over_share(&self, share: ShareId, now: Instant) -> bool {
        let weighted = self.lock();
        if weighted.weighted_seconds.len() < 2 {
            return false;
        }
        weighted.weighted_seconds.get(&share).is_some_and(|seconds| {
            *seconds >= weighted.max_seconds * OVER_SHARE_RATIO
                && *seconds > ALWAYS_ALLOWED.as_secs_f64() * weighted.weight(now)
        })
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    fn share(number: u128) -> ShareId {
        let workspace: kernel::id::WorkspaceId = Id::from_uuid(Uuid::from_u128(number));
        workspace.into()
    }

    /// Uses a part of a processor for each share for a while, and returns which are over their share then.
    fn over_share(used: &[f64], lasts: Duration) -> Vec<bool> {
        let begun = Instant::now();
        let (usage, step) = (CpuUsage::new(begun), Duration::from_millis(50));
        let mut now = begun;
        while now < begun + lasts {
            now += step;
            for (number, of_processor) in (0..).zip(used) {
                usage.record(share(number), step.mul_f64(*of_processor), now);
            }
        }
        (0..).zip(used).map(|(number, _)| usage.is_over_share(share(number), now)).collect()
    }

    #[test]
    fn who_uses_the_most_is_over_their_share() {
        for lasts in [1, 10, 600, 7200].map(Duration::from_secs) {
            assert_eq!(over_share(&[1.0, 0.5, 0.2], lasts), [true, false, false]);
            assert_eq!(over_share(&[1.0, 0.9, 0.01], lasts), [true, true, false]);
            assert_eq!(over_share(&[1.0], lasts), [false], "there is nobody to yield to");
        }
    }

    #[test]
    fn a_tenth_of_a_processor_is_little() {
        for lasts in [1, 10, 600].map(Duration::from_secs) {
            assert_eq!(over_share(&[0.1, 0.1], lasts), [false, false]);
        }
    }

    #[test]
    fn what_was_used_is_forgotten() {
        let begun = Instant::now();
        let usage = CpuUsage::new(begun);
        usage.record(share(1), Duration::from_secs(2), begun);
        usage.record(share(2), NEGLIGIBLE, begun);
        assert!(usage.is_over_share(share(1), begun + HALF_LIFE));
        assert!(!usage.is_over_share(share(1), begun + HALF_LIFE * 4));
        usage.record(share(3), Duration::from_millis(1), begun + REBASE_INTERVAL * 2);
        assert_eq!(usage.lock().weighted_seconds.len(), 1, "who used nothing for long is not remembered");
        assert!((usage.lock().max_seconds - 0.001).abs() < 1e-9);
    }
}
