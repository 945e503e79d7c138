//! Polling for effects that follow a response.

use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::time::{Instant, sleep};

const DEADLINE: Duration = Duration::from_secs(15);
const INTERVAL: Duration = Duration::from_millis(20);

/// Polls the condition until it returns a value. After 15 seconds it fails with the condition's last error.
pub async fn eventually<T>(what: &str, condition: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    eventually_within(DEADLINE, what, condition).await
}

/// Like [`eventually`], with another deadline.
pub async fn eventually_within<T>(
    deadline: Duration,
    what: &str,
    mut condition: impl AsyncFnMut() -> Result<T>,
) -> Result<T> {
    let until = Instant::now() + deadline;
    loop {
        match condition().await {
            Ok(value) => return Ok(value),
            Err(error) if Instant::now() >= until => {
                return Err(error).with_context(|| format!("{what}: not within {deadline:?}"));
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
    async fn a_condition_that_becomes_true_returns_its_value() {
        let mut attempts = 0;
        let value = eventually("three attempts", async || {
            attempts += 1;
            if attempts < 3 {
                bail!("only {attempts}");
            }
            Ok(attempts)
        });
        assert_eq!(value.await.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_error_includes_the_last_error_of_the_condition() {
        let error =
            eventually::<()>("the run finishes", async || bail!("it is still queued")).await.unwrap_err();
        assert_eq!(format!("{error:#}"), "the run finishes: not within 15s: it is still queued");
    }
}
