//! A probe of whether writes succeed, shared by all who ask.

use std::time::Duration;

use tokio::{sync::Mutex, time::Instant};

/// Time that the outcome of a probe holds.
const CACHE_TTL: Duration = Duration::from_secs(2);

/// Outcome of the last probe.
#[derive(Default)]
pub(crate) struct WriteProbe(Mutex<Option<(Instant, Result<(), String>)>>);

impl WriteProbe {
    /// Returns the outcome of the last probe, or of a new one by `write` if the last is too old. One caller writes
    /// while the others wait for its outcome.
    pub(crate) async fn check(&self, write: impl AsyncFnOnce() -> Result<(), String>) -> Result<(), String> {
        let mut last = self.0.lock().await;
        if let Some((at, outcome)) = last.as_ref()
            && at.elapsed() < CACHE_TTL
        {
            return outcome.clone();
        }
        let outcome = write().await;
        *last = Some((Instant::now(), outcome.clone()));
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_probe_serves_all_who_ask_within_two_seconds() {
        let probe = WriteProbe::default();
        let failed = async || Err("the disk is full".to_owned());
        assert_eq!(probe.check(failed).await, Err("the disk is full".to_owned()));
        tokio::time::advance(CACHE_TTL / 2).await;
        assert!(probe.check(async || Ok(())).await.is_err());
        tokio::time::advance(CACHE_TTL).await;
        assert_eq!(probe.check(async || Ok(())).await, Ok(()));
    }
}
