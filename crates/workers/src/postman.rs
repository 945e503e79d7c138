//! Sends the letters that wait in the outbox.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use futures::{StreamExt as _, stream};
use kernel::{
    Clock, StoreError, Timestamp,
    mail::{Courier, Outbox, Undelivered, Waiting},
    vault::Vault,
};
use tokio_util::sync::CancellationToken;

/// How late a letter is noticed that another node wrote, or that is due again.
const LOOK: Duration = Duration::from_secs(5);
/// Letters taken in one go.
const BATCH: u32 = 20;
/// Letters on their way at once.
const AT_ONCE: usize = 8;
/// How long one node may take over a batch before another takes its letters: longer than the slowest deliveries.
const LEASE: TimeDelta = TimeDelta::minutes(5);
/// After how long a letter that failed for the first time is tried again; each time after that four times as long.
const FIRST_WAIT: TimeDelta = TimeDelta::seconds(15);
/// It never waits longer than this.
const LONGEST_WAIT: TimeDelta = TimeDelta::hours(1);

/// Sends letters. Every node may run one: a letter is taken by one of them at a time.
///
/// A letter whose node dies between the mail server's yes and the outbox's is sent again, with the same message id.
pub struct Postman {
    outbox: Arc<dyn Outbox>,
    courier: Arc<dyn Courier>,
    vault: Vault,
    clock: Arc<dyn Clock>,
}

impl Postman {
    /// A postman between an outbox and a courier.
    #[must_use]
    pub fn new(
        outbox: Arc<dyn Outbox>,
        courier: Arc<dyn Courier>,
        vault: Vault,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { outbox, courier, vault, clock }
    }

    /// Sends what is due, whenever something is, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        loop {
            match self.send_due(&shutdown).await {
                Ok(0) => {}
                // There may be more.
                Ok(_) if !shutdown.is_cancelled() => continue,
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the outbox cannot be read now");
                }
            }
            if shutdown.run_until_cancelled(self.outbox.wait_for_letters(LOOK)).await.is_none() {
                return;
            }
        }
    }

    /// How many letters were taken.
    async fn send_due(&self, shutdown: &CancellationToken) -> Result<usize, StoreError> {
        let letters = self.outbox.take(BATCH, self.clock.now(), LEASE).await?;
        let taken = letters.len();
        let sent = letters.into_iter().map(|letter| async move {
            if shutdown.is_cancelled() {
                // The others are for whoever comes next, without waiting for the lease.
                return self.outbox.again(letter.id, self.clock.now()).await;
            }
            self.send(&letter).await
        });
        // Each is finished, whatever became of the others.
        let results: Vec<_> = stream::iter(sent).buffer_unordered(AT_ONCE).collect().await;
        results.into_iter().collect::<Result<(), _>>()?;
        Ok(taken)
    }

    async fn send(&self, letter: &Waiting) -> Result<(), StoreError> {
        let (id, kind) = (letter.id, letter.kind.as_str());
        if self.clock.now() >= letter.give_up_at {
            tracing::warn!(letter = %id, kind, attempts = letter.attempts, "a letter was given up: too late");
            return self.outbox.done(id).await;
        }
        let content = match letter.open(&self.vault) {
            Ok(content) => content,
            Err(error) => {
                tracing::error!(letter = %id, kind, %error, "a letter was given up: it cannot be read");
                return self.outbox.done(id).await;
            }
        };
        match self.courier.deliver(id, &content).await {
            Ok(()) => {
                tracing::info!(letter = %id, kind, "a letter was sent");
                self.outbox.done(id).await
            }
            Err(Undelivered::Permanent(reason)) => {
                tracing::warn!(letter = %id, kind, reason, "a letter was given up: it will never be taken");
                self.outbox.done(id).await
            }
            Err(Undelivered::Transient(reason)) => {
                let now = self.clock.now();
                let at = next_try(letter.attempts, now);
                self.outbox.again(id, at).await?;
                tracing::warn!(letter = %id, kind, reason, again = %at, "a letter was not taken now");
                Ok(())
            }
        }
    }
}

fn next_try(attempts: u32, now: Timestamp) -> Timestamp {
    let factor = 4_i32.saturating_pow(attempts.min(8));
    now + FIRST_WAIT.checked_mul(factor).map_or(LONGEST_WAIT, |wait| wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests;
