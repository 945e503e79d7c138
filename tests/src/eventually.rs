//! Waiting for what happens after the answer.

use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::time::{Instant, sleep};

const DEADLINE: Duration = Duration::from_secs(15);
const INTERVAL: Duration = Duration::from_millis(20);

/// Tries until the condition gives a value; after 15 seconds it fails with the condition's last refusal.
///
/// # Errors
///
/// When the deadline passes.
pub async fn eventually<T>(what: &str, condition: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    eventually_within(DEADLINE, what, condition).await
}

/// As [`eventually`], with a deadline of its own.
///
/// # Errors
///
/// When the deadline passes.
pub async fn eventually_within<T>(
    deadline: Duration,
    what: &str,
    mut condition: impl AsyncFnMut() -> Result<T>,
) -> Result<T> {
    let until = Instant::now() + deadline;
    loop {
        match condition().await {
            Ok(value) => return Ok(value),
            Err(refusal) if Instant::now() >= until => {
                return Err(refusal).with_context(|| format!("{what}: not within {deadline:?}"));
            }
            Err(_) => sleep(INTERVAL).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_condition_that_comes_true_gives_its_value() {
        let mut tries = 0;
        let value = eventually("three tries", async || {
            tries += 1;
            if tries < 3 {
                bail!("only {tries}");
            }
            Ok(tries)
        });
        assert_eq!(value.await.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_refusal_is_kept() {
        let refusal =
            eventually::<()>("the run finishes", async || bail!("it is still queued")).await.unwrap_err();
        assert_eq!(format!("{refusal:#}"), "the run finishes: not within 15s: it is still queued");
    }
}
