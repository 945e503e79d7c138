//! Tells people of alerts: plans the deliveries of notifications, and sends their e-mail.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use futures::{StreamExt as _, stream};
use kernel::{
    Clock, Id, Randomness, StoreError,
    id::NotificationDeliveryId,
    mail::{DeliveryError, MailTransport},
};
use observability::notifications::{
    Channel, ClaimedDelivery, DeliveryOutcome, DeliveryReason, EmailOrder, EmailPlan, NewDelivery,
    Notification, NotificationQueue, PlannedEmail, compose, plan_emails,
};
use tokio_util::sync::CancellationToken;

use crate::{mail_worker::next_attempt_at, run_at_interval};

/// Bound on the delay before a notification is noticed, and between steps of a long queue.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum number of notifications that are planned per claim.
const PLAN_BATCH: u32 = 20;
/// Time a node has for planning a batch before others may claim it.
const PLAN_LEASE: TimeDelta = TimeDelta::minutes(1);
/// Maximum number of e-mails per claim; few, since those of a node that dies wait for the end of the lease.
const SEND_BATCH: u32 = 4;
/// Time a node has for a batch of e-mails before others may claim it; longer than the slowest deliveries take.
const SEND_LEASE: TimeDelta = TimeDelta::minutes(10);
/// Maximum number of e-mails being sent at once; few, since sign-in codes go through the same mail server.
const MAX_CONCURRENT_SENDS: usize = 2;
/// Time after an alert at which an e-mail about it is given up.
const DELIVERY_LIFETIME: TimeDelta = TimeDelta::days(1);

/// Dependencies of the worker.
pub struct NotificationWorkerDeps {
    /// Notifications and their deliveries.
    pub queue: Arc<dyn NotificationQueue>,
    /// The mail server; `None` if the server sends no e-mail.
    pub mail: Option<Arc<dyn MailTransport>>,
    /// The origin of the console, without a trailing slash.
    pub console_origin: String,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub random: Arc<dyn Randomness>,
}

/// Plans and carries out deliveries of notifications. Every node may run one.
///
/// E-mail of notifications does not go through the outbox: it holds no secret, and a flood of it must not delay sign-in codes.
/// If a node dies after the mail server accepted an e-mail and before that was recorded, the e-mail is sent again with the
/// same message id.
pub struct NotificationWorker(NotificationWorkerDeps);

impl NotificationWorker {
    /// Creates a worker.
    #[must_use]
    pub fn new(deps: NotificationWorkerDeps) -> Self {
        Self(deps)
    }

    /// Plans and sends what is due at once and then every two seconds, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        run_at_interval(POLL_INTERVAL, shutdown.clone(), || async {
            if let Err(error) = self.work(&shutdown).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "cannot deliver notifications; it is tried again in two seconds");
            }
        })
        .await;
    }

    /// Does what is due, batch by batch. Plans and e-mails take turns, since a mail server that is slower than e-mails come due
    /// would otherwise keep every workspace's next notification waiting.
    async fn work(&self, shutdown: &CancellationToken) -> Result<(), StoreError> {
        while !shutdown.is_cancelled() {
            if self.plan_due().await? + self.send_due(shutdown).await? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Plans the deliveries of one batch of notifications, and returns their number.
    async fn plan_due(&self) -> Result<usize, StoreError> {
        let deps = &self.0;
        let claimed = deps.queue.claim_notifications(PLAN_BATCH, deps.clock.now(), PLAN_LEASE).await?;
        // One after the other: what was planned before counts.
        for notification in &claimed {
            self.plan(notification).await?;
        }
        Ok(claimed.len())
    }

    async fn plan(&self, notification: &Notification) -> Result<(), StoreError> {
        let deps = &self.0;
        let now = deps.clock.now();
        let facts = match deps.mail {
            Some(_) => Some(deps.queue.email_facts(notification, now).await?),
            None => None,
        };
        let new =
            |order| NewDelivery { id: Id::generate(&*deps.random, now), channel: Channel::Email, order };
        let order = |email: PlannedEmail| EmailOrder {
            recipient: email.recipient,
            due_at: email.due_at,
            // From the alert on: what a restored backup holds is not told days later.
            expires_at: notification.at + DELIVERY_LIFETIME,
        };
        let deliveries = match plan_emails(facts.as_ref(), now) {
            EmailPlan::Skip(reason) => vec![new(Err(reason))],
            EmailPlan::Send(emails) => emails.into_iter().map(|email| new(Ok(order(email)))).collect(),
        };
        deps.queue.plan_deliveries(notification, &deliveries).await
    }

    /// Sends one batch of e-mails, and returns the number of those that were claimed.
    async fn send_due(&self, shutdown: &CancellationToken) -> Result<usize, StoreError> {
        let deps = &self.0;
        let claimed = deps.queue.claim_deliveries(SEND_BATCH, deps.clock.now(), SEND_LEASE).await?;
        let count = claimed.len();
        let sent = claimed.into_iter().map(|delivery| async move {
            let attempt = if shutdown.is_cancelled() {
                // Due at once for another node, which need not wait for the lease to expire.
                Attempt::without_response(DeliveryOutcome::Retry(deps.clock.now()))
            } else {
                self.send(&delivery).await?
            };
            deps.queue.end_attempt(delivery.id, attempt.outcome).await?;
            attempt.log(delivery.id);
            Ok(())
        });
        // Every delivery is settled, even if others fail.
        let results: Vec<_> = stream::iter(sent).buffer_unordered(MAX_CONCURRENT_SENDS).collect().await;
        results.into_iter().collect::<Result<(), StoreError>>()?;
        Ok(count)
    }

    async fn send(&self, delivery: &ClaimedDelivery) -> Result<Attempt, StoreError> {
        let deps = &self.0;
        let (id, now) = (delivery.id, deps.clock.now());
        let undelivered = |reason| Attempt::without_response(DeliveryOutcome::Undelivered(reason));
        // It was planned before the mail server was taken out of the configuration.
        let Some(mail) = &deps.mail else { return Ok(undelivered(DeliveryReason::NotConfigured)) };
        if now >= delivery.expires_at {
            return Ok(undelivered(DeliveryReason::Expired));
        }
        let content = match deps.queue.email_content(delivery, now).await? {
            Ok(content) => compose(&content, &deps.console_origin),
            Err(reason) => return Ok(undelivered(reason)),
        };
        Ok(match mail.deliver(Id::from_uuid(id.uuid()), &content).await {
            Ok(()) => Attempt::without_response(DeliveryOutcome::Sent),
            Err(DeliveryError::Permanent(response)) => {
                Attempt { outcome: DeliveryOutcome::Undelivered(DeliveryReason::Rejected), response }
            }
            Err(DeliveryError::Transient(response)) => {
                let at = next_attempt_at(delivery.attempts, deps.clock.now());
                Attempt { outcome: DeliveryOutcome::Retry(at), response }
            }
        })
    }
}

/// An attempt to send an e-mail.
struct Attempt {
    outcome: DeliveryOutcome,
    /// Response of a mail server that did not accept the e-mail.
    response: String,
}

impl Attempt {
    fn without_response(outcome: DeliveryOutcome) -> Self {
        Self { outcome, response: String::new() }
    }

    /// Writes the attempt to the log, once it is recorded.
    fn log(&self, delivery: NotificationDeliveryId) {
        let response = self.response.as_str();
        match self.outcome {
            DeliveryOutcome::Sent => tracing::info!(%delivery, "e-mail about an alert sent"),
            DeliveryOutcome::Undelivered(reason) => {
                tracing::warn!(%delivery, %reason, response, "discarded an e-mail about an alert");
            }
            DeliveryOutcome::Retry(retry_at) => {
                tracing::warn!(%delivery, response, %retry_at, "e-mail about an alert not accepted; will retry");
            }
        }
    }
}

#[cfg(test)]
mod tests;
