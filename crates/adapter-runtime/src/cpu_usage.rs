//! Processor time of each workspace's app code of late. Where several workspaces run code, that of those that use the most
//! gives way to everything else on the machine, from its first instruction (decision 0133).
//!
//! Time is weighted by forward decay: what was used later weighs more, by a factor that doubles every [`HALF_LIFE`].
//! Nothing has to be decayed to be compared, and the most that any workspace has used is known at once.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kernel::id::WorkspaceId;

/// Half of what was used is forgotten in this time.
const HALF_LIFE: Duration = Duration::from_secs(1);
/// A workspace that used less gives way to nobody. One that uses a tenth of a processor all the time stays below it.
const ALWAYS_ALLOWED: Duration = Duration::from_millis(150);
/// A workspace that used less than this part of what the busiest one used does not give way.
const OVER_SHARE_RATIO: f64 = 2.0 / 3.0;
/// After so long the weights begin at one again, before they are too large for a float, and who used nothing is forgotten.
const REBASE_INTERVAL: Duration = Duration::from_secs(60);
/// Processor time that is too little to be remembered.
const NEGLIGIBLE: Duration = Duration::from_micros(100);

/// The processor time of all workspaces.
pub(crate) struct CpuUsage(Mutex<DecayedUsage>);

struct DecayedUsage {
    /// The time at which the weight was one.
    landmark: Instant,
    /// Weighed seconds.
    weighted_seconds: HashMap<WorkspaceId, f64>,
    /// The most of them.
    max_seconds: f64,
}

impl DecayedUsage {
    fn weight(&self, now: Instant) -> f64 {
        (now.saturating_duration_since(self.landmark).as_secs_f64() / HALF_LIFE.as_secs_f64()).exp2()
    }

    /// Lets the weights begin at one again.
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

    /// Adds processor time that code of the workspace has used.
    pub(crate) fn record(&self, workspace: WorkspaceId, used: Duration, now: Instant) {
        let mut weighed = self.lock();
        if now.saturating_duration_since(weighed.landmark) > REBASE_INTERVAL {
            weighed.rebase(now);
        }
        let used = used.as_secs_f64() * weighed.weight(now);
        let seconds = weighed.weighted_seconds.entry(workspace).or_default();
        *seconds += used;
        let seconds = *seconds;
        weighed.max_seconds = weighed.max_seconds.max(seconds);
    }

    /// Returns true if the workspace is one of those that used the most, and not little. One that is alone gives way to nobody.
    pub(crate) fn is_over_share(&self, workspace: WorkspaceId, now: Instant) -> bool {
        let weighed = self.lock();
        if weighed.weighted_seconds.len() < 2 {
            return false;
        }
        weighed.weighted_seconds.get(&workspace).is_some_and(|seconds| {
            *seconds >= weighed.max_seconds * OVER_SHARE_RATIO
                && *seconds > ALWAYS_ALLOWED.as_secs_f64() * weighed.weight(now)
        })
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    fn ws(number: u128) -> WorkspaceId {
        Id::from_uuid(Uuid::from_u128(number))
    }

    /// Each workspace uses so much of a processor for a while; who is over its share then.
    fn over_share(used: &[f64], lasts: Duration) -> Vec<bool> {
        let begun = Instant::now();
        let (usage, step) = (CpuUsage::new(begun), Duration::from_millis(50));
        let mut now = begun;
        while now < begun + lasts {
            now += step;
            for (number, of_processor) in (0..).zip(used) {
                usage.record(ws(number), step.mul_f64(*of_processor), now);
            }
        }
        (0..).zip(used).map(|(number, _)| usage.is_over_share(ws(number), now)).collect()
    }

    #[test]
    fn who_uses_the_most_gives_way() {
        for lasts in [1, 10, 600, 7200].map(Duration::from_secs) {
            assert_eq!(over_share(&[1.0, 0.5, 0.2], lasts), [true, false, false]);
            assert_eq!(over_share(&[1.0, 0.9, 0.01], lasts), [true, true, false]);
            assert_eq!(over_share(&[1.0], lasts), [false], "there is nobody to give way to");
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
        usage.record(ws(1), Duration::from_secs(2), begun);
        usage.record(ws(2), NEGLIGIBLE, begun);
        assert!(usage.is_over_share(ws(1), begun + HALF_LIFE));
        assert!(!usage.is_over_share(ws(1), begun + HALF_LIFE * 4));
        usage.record(ws(3), Duration::from_millis(1), begun + REBASE_INTERVAL * 2);
        assert_eq!(usage.lock().weighted_seconds.len(), 1, "who used nothing for long is not remembered");
        assert!((usage.lock().max_seconds - 0.001).abs() < 1e-9);
    }
}
