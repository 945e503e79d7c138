//! A loop for periodic work.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval as ticks};
use tokio_util::sync::CancellationToken;

/// Calls `work` at once and then every `interval`, until `shutdown`. Work in progress is finished. After work that
/// takes longer than the interval, the next call follows a whole interval later.
///
/// # Panics
/// Panics if `interval` is zero.
pub async fn run_at_interval<W>(interval: Duration, shutdown: CancellationToken, mut work: impl FnMut() -> W)
where
    W: Future<Output = ()>,
{
    let mut ticks = ticks(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while shutdown.run_until_cancelled(ticks.tick()).await.is_some() {
        work().await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_works_at_once_and_every_interval_until_the_shutdown() {
        let (shutdown, times) = (CancellationToken::new(), Cell::new(0));
        let work = async || {
            times.set(times.get() + 1);
            if times.get() == 3 {
                shutdown.cancel();
            }
        };
        let begun = tokio::time::Instant::now();
        run_at_interval(Duration::from_secs(60), shutdown.clone(), work).await;
        assert_eq!((times.get(), begun.elapsed()), (3, Duration::from_secs(120)));
    }
}
