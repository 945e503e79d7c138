use std::sync::Mutex;

use async_trait::async_trait;
use kernel::{
    Locale, SeededRandomness, Timestamp,
    clock::ManualClock,
    id::{MailId, NotificationDeliveryId, UserId},
    mail::RenderedEmail,
    testing::id,
};
use observability::notifications::{EmailContent, EmailFacts, NotificationSubject, SubjectNames};

use super::*;

/// Holds notifications to plan, and deliveries with their state.
#[derive(Default)]
struct MemoryQueue {
    to_plan: Mutex<Vec<Notification>>,
    deliveries: Mutex<Vec<(NewDelivery, Option<Timestamp>, u32)>>,
    outcomes: Mutex<Vec<DeliveryOutcome>>,
    recipients: Vec<UserId>,
    /// The person who is no longer told.
    left: Option<UserId>,
    /// Number of times that what was sent is due again at once, as if others had become due.
    due_again: Mutex<u32>,
    /// A notification that comes with the first e-mail that is sent, and the end of the worker, which comes with its plan.
    told_while_sending: Mutex<Option<(Notification, CancellationToken)>>,
    /// Cancelled with the next plan.
    end_with_plan: Mutex<Option<CancellationToken>>,
}

#[async_trait]
impl NotificationQueue for MemoryQueue {
    async fn claim_notifications(
        &self,
        _: u32,
        _: Timestamp,
        _: TimeDelta,
    ) -> Result<Vec<Notification>, StoreError> {
        Ok(self.to_plan.lock().unwrap().drain(..).collect())
    }

    async fn email_facts(&self, _: &Notification, _: Timestamp) -> Result<EmailFacts, StoreError> {
        Ok(EmailFacts { is_repeated: false, emailed: 0, waiting: 0, recipients: self.recipients.clone() })
    }

    async fn plan_deliveries(&self, _: &Notification, new: &[NewDelivery]) -> Result<(), StoreError> {
        if let Some(end) = self.end_with_plan.lock().unwrap().take() {
            end.cancel();
        }
        let due = new.iter().map(|new| (*new, new.order.ok().map(|order| order.due_at), 0));
        self.deliveries.lock().unwrap().extend(due);
        Ok(())
    }

    async fn claim_deliveries(
        &self,
        _: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let mut deliveries = self.deliveries.lock().unwrap();
        let due = deliveries.iter_mut().filter_map(|(new, due_at, attempts)| {
            let order = new.order.ok().filter(|_| due_at.is_some_and(|at| at <= now))?;
            let earlier = *attempts;
            *due_at = Some(now + lease);
            *attempts += 1;
            Some(ClaimedDelivery {
                id: new.id,
                workspace: id(1),
                seq: 7,
                recipient: order.recipient,
                attempts: earlier,
                expires_at: order.expires_at,
            })
        });
        Ok(due.collect())
    }

    async fn email_content(
        &self,
        delivery: &ClaimedDelivery,
        _: Timestamp,
    ) -> Result<Result<EmailContent, DeliveryReason>, StoreError> {
        if Some(delivery.recipient) == self.left {
            return Ok(Err(DeliveryReason::NoAccess));
        }
        Ok(Ok(EmailContent {
            notification: notification(),
            names: SubjectNames { connection: Some("CRM".to_owned()), ..SubjectNames::default() },
            workspace_name: "Acme".to_owned(),
            locale: Locale::En,
            address: "aru@example.com".to_owned(),
        }))
    }

    async fn end_attempt(
        &self,
        delivery: NotificationDeliveryId,
        outcome: DeliveryOutcome,
    ) -> Result<(), StoreError> {
        if let Some((told, end)) = self.told_while_sending.lock().unwrap().take() {
            self.to_plan.lock().unwrap().push(told);
            self.end_with_plan.lock().unwrap().replace(end);
        }
        let mut deliveries = self.deliveries.lock().unwrap();
        let entry = deliveries.iter_mut().find(|(new, ..)| new.id == delivery).unwrap();
        entry.1 = match outcome {
            DeliveryOutcome::Retry(at) => Some(at),
            DeliveryOutcome::Sent | DeliveryOutcome::Undelivered(_) => {
                let mut due_again = self.due_again.lock().unwrap();
                let is_due = *due_again > 0;
                *due_again = due_again.saturating_sub(1);
                is_due.then_some(Timestamp::UNIX_EPOCH)
            }
        };
        self.outcomes.lock().unwrap().push(outcome);
        Ok(())
    }
}

fn notification() -> Notification {
    Notification {
        workspace: id(1),
        seq: 7,
        at: Timestamp::UNIX_EPOCH,
        subject: NotificationSubject::Connection(id(2)),
        code: "auth_rejected".to_owned(),
    }
}

/// Returns the scripted results in order, then accepts everything.
#[derive(Default)]
struct ScriptedTransport {
    results: Mutex<Vec<Result<(), DeliveryError>>>,
    sent: Mutex<Vec<(MailId, String)>>,
}

#[async_trait]
impl MailTransport for ScriptedTransport {
    async fn deliver(&self, id: MailId, content: &RenderedEmail) -> Result<(), DeliveryError> {
        self.sent.lock().unwrap().push((id, content.text.clone()));
        self.results.lock().unwrap().pop().unwrap_or(Ok(()))
    }
}

struct Fixture {
    queue: Arc<MemoryQueue>,
    mail: Arc<ScriptedTransport>,
    clock: Arc<ManualClock>,
    worker: NotificationWorker,
}

fn fixture(queue: MemoryQueue, mail: ScriptedTransport, sends_mail: bool) -> Fixture {
    queue.to_plan.lock().unwrap().push(notification());
    let (queue, mail) = (Arc::new(queue), Arc::new(mail));
    let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
    let worker = NotificationWorker::new(NotificationWorkerDeps {
        queue: Arc::clone(&queue) as _,
        mail: sends_mail.then(|| Arc::clone(&mail) as _),
        console_origin: "https://q.example".to_owned(),
        clock: Arc::clone(&clock) as _,
        random: Arc::new(SeededRandomness::new(5)),
    });
    Fixture { queue, mail, clock, worker }
}

impl Fixture {
    async fn work(&self) {
        self.worker.work(&CancellationToken::new()).await.unwrap();
    }

    fn outcomes(&self) -> Vec<DeliveryOutcome> {
        self.queue.outcomes.lock().unwrap().clone()
    }
}

fn two_people() -> MemoryQueue {
    MemoryQueue { recipients: vec![id(3), id(4)], ..MemoryQueue::default() }
}

#[tokio::test]
async fn each_person_gets_one_e_mail_with_a_link_to_the_object() {
    let fixture = fixture(two_people(), ScriptedTransport::default(), true);
    fixture.work().await;
    fixture.work().await;
    assert_eq!(fixture.outcomes(), [DeliveryOutcome::Sent; 2]);
    let sent = fixture.mail.sent.lock().unwrap().clone();
    let link = format!(
        "https://q.example/w/{}/connections/{}",
        notification().workspace,
        id::<kernel::id::kind::Connection>(2)
    );
    assert!(sent.len() == 2 && sent.iter().all(|(_, text)| text.contains(&link)), "{sent:?}");
}

#[tokio::test]
async fn without_a_mail_server_the_reason_is_recorded() {
    let fixture = fixture(two_people(), ScriptedTransport::default(), false);
    fixture.work().await;
    let planned = fixture.queue.deliveries.lock().unwrap().clone();
    assert_eq!(planned[0].0.order, Err(DeliveryReason::NotConfigured));
    assert!(fixture.outcomes().is_empty());
}

#[tokio::test]
async fn an_e_mail_that_waits_ends_when_the_mail_server_is_taken_away() {
    let unavailable = Mutex::new(vec![Err(DeliveryError::Transient("451".to_owned()))]);
    let queue = MemoryQueue { recipients: vec![id(3)], ..MemoryQueue::default() };
    let mut fixture =
        fixture(queue, ScriptedTransport { results: unavailable, ..ScriptedTransport::default() }, true);
    fixture.work().await;
    fixture.worker.0.mail = None;
    fixture.clock.advance(TimeDelta::minutes(1));
    fixture.work().await;
    let last = fixture.outcomes().last().copied();
    assert_eq!(last, Some(DeliveryOutcome::Undelivered(DeliveryReason::NotConfigured)));
}

#[tokio::test]
async fn a_notification_is_planned_although_e_mails_keep_coming_due() {
    let queue = MemoryQueue { recipients: vec![id(3)], due_again: Mutex::new(100), ..MemoryQueue::default() };
    let fixture = fixture(queue, ScriptedTransport::default(), true);
    let shutdown = CancellationToken::new();
    fixture.queue.told_while_sending.lock().unwrap().replace((notification(), shutdown.clone()));
    fixture.worker.work(&shutdown).await.unwrap();
    assert!(shutdown.is_cancelled() && fixture.queue.to_plan.lock().unwrap().is_empty());
}

#[tokio::test]
async fn whoever_left_meanwhile_and_whom_the_mail_server_refuses_get_none() {
    let queue = MemoryQueue { left: Some(id(3)), ..two_people() };
    let results = Mutex::new(vec![Err(DeliveryError::Permanent("550".to_owned()))]);
    let fixture = fixture(queue, ScriptedTransport { results, ..ScriptedTransport::default() }, true);
    fixture.work().await;
    let mut reasons: Vec<_> = fixture.outcomes();
    reasons.sort_by_key(|outcome| *outcome == DeliveryOutcome::Undelivered(DeliveryReason::Rejected));
    assert_eq!(
        reasons,
        [DeliveryReason::NoAccess, DeliveryReason::Rejected].map(DeliveryOutcome::Undelivered)
    );
}

#[tokio::test]
async fn an_e_mail_that_is_not_accepted_is_retried_with_the_same_id_for_a_day() {
    let unavailable = || Err(DeliveryError::Transient("451".to_owned()));
    let results = Mutex::new(std::iter::repeat_with(unavailable).take(99).collect());
    let queue = MemoryQueue { recipients: vec![id(3)], ..MemoryQueue::default() };
    let fixture = fixture(queue, ScriptedTransport { results, ..ScriptedTransport::default() }, true);
    fixture.work().await;
    let first = Timestamp::UNIX_EPOCH + TimeDelta::seconds(15);
    assert_eq!(fixture.outcomes(), [DeliveryOutcome::Retry(first)]);
    for _ in 0..30 {
        fixture.clock.advance(TimeDelta::hours(1));
        fixture.work().await;
    }
    let last = fixture.outcomes().last().copied();
    assert_eq!(last, Some(DeliveryOutcome::Undelivered(DeliveryReason::Expired)));
    let sent = fixture.mail.sent.lock().unwrap().clone();
    assert!(sent.len() > 20 && sent.iter().all(|(id, _)| *id == sent[0].0));
}
