//! Sends the e-mail in the outbox.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use futures::{StreamExt as _, stream};
use kernel::{
    Clock, StoreError, Timestamp,
    mail::{ClaimedEmail, DeliveryError, MailTransport, Outbox},
    vault::Vault,
};
use tokio_util::sync::CancellationToken;

/// Bound on the delay before e-mail of another node, or a due retry, is noticed.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of e-mails per claim.
const BATCH: u32 = 20;
/// Maximum number of e-mails being sent at once.
const MAX_CONCURRENT_SENDS: usize = 8;
/// Time a node has for a batch before others may claim its e-mails; longer than the slowest deliveries take.
const LEASE: TimeDelta = TimeDelta::minutes(5);
/// Delay of the first retry; each further delay is four times as long.
const INITIAL_RETRY_DELAY: TimeDelta = TimeDelta::seconds(15);
/// Maximum delay of a retry.
const MAX_RETRY_DELAY: TimeDelta = TimeDelta::hours(1);

/// Sends e-mail. Every node may run one: an e-mail is claimed by one of them at a time.
///
/// If a node dies after the mail server accepted an e-mail and before the outbox deleted it, the e-mail is sent again
/// with the same message id.
pub struct MailWorker {
    outbox: Arc<dyn Outbox>,
    transport: Arc<dyn MailTransport>,
    vault: Vault,
    clock: Arc<dyn Clock>,
}

impl MailWorker {
    /// Creates a worker that sends the e-mails of `outbox` through `transport`.
    #[must_use]
    pub fn new(
        outbox: Arc<dyn Outbox>,
        transport: Arc<dyn MailTransport>,
        vault: Vault,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { outbox, transport, vault, clock }
    }

    /// Sends e-mails as they become due, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        loop {
            match self.send_due(&shutdown).await {
                Ok(0) => {}
                // There may be more.
                Ok(_) if !shutdown.is_cancelled() => continue,
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "cannot read the outbox");
                }
            }
            if shutdown.run_until_cancelled(self.outbox.wait_for_emails(POLL_INTERVAL)).await.is_none() {
                return;
            }
        }
    }

    /// Sends one batch and returns the number of e-mails claimed.
    async fn send_due(&self, shutdown: &CancellationToken) -> Result<usize, StoreError> {
        let emails = self.outbox.claim_emails(BATCH, self.clock.now(), LEASE).await?;
        let claimed = emails.len();
        let sent = emails.into_iter().map(|email| async move {
            if shutdown.is_cancelled() {
                // Due at once for another node, which need not wait for the lease to expire.
                return self.outbox.reschedule_email(email.id, self.clock.now()).await;
            }
            self.send(&email).await
        });
        // Every e-mail is settled, even if others fail.
        let results: Vec<_> = stream::iter(sent).buffer_unordered(MAX_CONCURRENT_SENDS).collect().await;
        results.into_iter().collect::<Result<(), _>>()?;
        Ok(claimed)
    }

    async fn send(&self, email: &ClaimedEmail) -> Result<(), StoreError> {
        let (id, kind) = (email.id, email.kind.as_str());
        if self.clock.now() >= email.expires_at {
            tracing::warn!(email_id = %id, kind, attempts = email.attempts, "discarded an expired e-mail");
            return self.outbox.delete_email(id).await;
        }
        let content = match email.open(&self.vault) {
            Ok(content) => content,
            Err(error) => {
                tracing::error!(email_id = %id, kind, %error, "discarded an e-mail that cannot be opened");
                return self.outbox.delete_email(id).await;
            }
        };
        match self.transport.deliver(id, &content).await {
            Ok(()) => {
                tracing::info!(email_id = %id, kind, "e-mail sent");
                self.outbox.delete_email(id).await
            }
            Err(DeliveryError::Permanent(reason)) => {
                tracing::warn!(email_id = %id, kind, reason, "discarded an e-mail that was rejected permanently");
                self.outbox.delete_email(id).await
            }
            Err(DeliveryError::Transient(reason)) => {
                let now = self.clock.now();
                let at = next_attempt_at(email.attempts, now);
                self.outbox.reschedule_email(id, at).await?;
                tracing::warn!(email_id = %id, kind, reason, retry_at = %at, "e-mail not accepted; will retry");
                Ok(())
            }
        }
    }
}

/// Returns the time of the next attempt to deliver an e-mail, after `attempts` earlier ones.
pub(crate) fn next_attempt_at(attempts: u32, now: Timestamp) -> Timestamp {
    let factor = 4_i32.saturating_pow(attempts.min(8));
    now + INITIAL_RETRY_DELAY.checked_mul(factor).map_or(MAX_RETRY_DELAY, |wait| wait.min(MAX_RETRY_DELAY))
}

#[cfg(test)]
mod tests;
