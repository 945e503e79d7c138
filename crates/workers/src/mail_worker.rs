//! Sends the letters that wait in the outbox.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use futures::{StreamExt as _, stream};
use kernel::{
    Clock, StoreError, Timestamp,
    mail::{ClaimedEmail, DeliveryError, MailTransport, Outbox},
    vault::Vault,
};
use tokio_util::sync::CancellationToken;

/// How late a letter is noticed that another node wrote, or that is due again.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Letters taken in one go.
const BATCH: u32 = 20;
/// Letters on their way at once.
const MAX_CONCURRENT_SENDS: usize = 8;
/// How long one node may take over a batch before another takes its letters: longer than the slowest deliveries.
const LEASE: TimeDelta = TimeDelta::minutes(5);
/// After how long a letter that failed for the first time is tried again; each time after that four times as long.
const INITIAL_RETRY_DELAY: TimeDelta = TimeDelta::seconds(15);
/// It never waits longer than this.
const MAX_RETRY_DELAY: TimeDelta = TimeDelta::hours(1);

/// Sends letters. Every node may run one: a letter is taken by one of them at a time.
///
/// A letter whose node dies between the mail server's yes and the outbox's is sent again, with the same message id.
pub struct MailWorker {
    outbox: Arc<dyn Outbox>,
    transport: Arc<dyn MailTransport>,
    vault: Vault,
    clock: Arc<dyn Clock>,
}

impl MailWorker {
    /// A postman between an outbox and a courier.
    #[must_use]
    pub fn new(
        outbox: Arc<dyn Outbox>,
        courier: Arc<dyn MailTransport>,
        vault: Vault,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { outbox, transport: courier, vault, clock }
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
            if shutdown.run_until_cancelled(self.outbox.wait_for_emails(POLL_INTERVAL)).await.is_none() {
                return;
            }
        }
    }

    /// How many letters were taken.
    async fn send_due(&self, shutdown: &CancellationToken) -> Result<usize, StoreError> {
        let emails = self.outbox.claim_emails(BATCH, self.clock.now(), LEASE).await?;
        let claimed = emails.len();
        let sent = emails.into_iter().map(|email| async move {
            if shutdown.is_cancelled() {
                // The others are for whoever comes next, without waiting for the lease.
                return self.outbox.reschedule_email(email.id, self.clock.now()).await;
            }
            self.send(&email).await
        });
        // Each is finished, whatever became of the others.
        let results: Vec<_> = stream::iter(sent).buffer_unordered(MAX_CONCURRENT_SENDS).collect().await;
        results.into_iter().collect::<Result<(), _>>()?;
        Ok(claimed)
    }

    async fn send(&self, email: &ClaimedEmail) -> Result<(), StoreError> {
        let (id, kind) = (email.id, email.kind.as_str());
        if self.clock.now() >= email.expires_at {
            tracing::warn!(letter = %id, kind, attempts = email.attempts, "a letter was given up: too late");
            return self.outbox.delete_email(id).await;
        }
        let content = match email.open(&self.vault) {
            Ok(content) => content,
            Err(error) => {
                tracing::error!(letter = %id, kind, %error, "a letter was given up: it cannot be read");
                return self.outbox.delete_email(id).await;
            }
        };
        match self.transport.deliver(id, &content).await {
            Ok(()) => {
                tracing::info!(letter = %id, kind, "a letter was sent");
                self.outbox.delete_email(id).await
            }
            Err(DeliveryError::Permanent(reason)) => {
                tracing::warn!(letter = %id, kind, reason, "a letter was given up: it will never be taken");
                self.outbox.delete_email(id).await
            }
            Err(DeliveryError::Transient(reason)) => {
                let now = self.clock.now();
                let at = next_attempt_at(email.attempts, now);
                self.outbox.reschedule_email(id, at).await?;
                tracing::warn!(letter = %id, kind, reason, again = %at, "a letter was not taken now");
                Ok(())
            }
        }
    }
}

fn next_attempt_at(attempts: u32, now: Timestamp) -> Timestamp {
    let factor = 4_i32.saturating_pow(attempts.min(8));
    now + INITIAL_RETRY_DELAY.checked_mul(factor).map_or(MAX_RETRY_DELAY, |wait| wait.min(MAX_RETRY_DELAY))
}

#[cfg(test)]
mod tests;
