//! Turns of work that few may do at once.

use std::{sync::Arc, time::Duration};

use kernel::ShareId;
use runs::fair_share::{FairPermit, FairSemaphore};
use tokio::time::timeout;

use crate::Problem;

/// Time that somebody waits for a turn, as code waits for a worker process.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Waits for the turn of a share.
///
/// # Errors
/// 503 `overloaded` with the message if it does not come in time, or too many requests of the share wait.
pub async fn wait_for_turn(
    turns: &Arc<FairSemaphore>,
    share: ShareId,
    message: &'static str,
) -> Result<FairPermit, Problem> {
    let overloaded = || Problem::unavailable("overloaded", message).hint("Try again in a moment.");
    let turn = timeout(MAX_WAIT, turns.acquire(share)).await;
    turn.map_err(|_| overloaded())?.map_err(|_| overloaded())
}

#[cfg(test)]
mod tests {
    use kernel::{id::UserId, testing::id};
    use runs::fair_share::ShareLimits;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_told_so() {
        let turns = FairSemaphore::new(1, ShareLimits { permits: 1, waiting: 1 });
        let [one, other] = [1, 2].map(|number| {
            let person: UserId = id(number);
            ShareId::from(person)
        });
        let held = wait_for_turn(&turns, one, "Busy.").await.unwrap();
        let begun = Instant::now();
        let (waited, refused) = tokio::join!(wait_for_turn(&turns, other, "Busy."), async {
            tokio::task::yield_now().await;
            (wait_for_turn(&turns, other, "Busy.").await, begun.elapsed())
        });
        assert_eq!((waited.unwrap_err().code, begun.elapsed()), ("overloaded".into(), MAX_WAIT));
        assert_eq!((refused.0.unwrap_err().code, refused.1), ("overloaded".into(), Duration::ZERO));
        drop(held);
        assert!(wait_for_turn(&turns, other, "Busy.").await.is_ok());
    }
}
