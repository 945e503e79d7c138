use std::sync::Mutex;

use async_trait::async_trait;
use kernel::{
    Caller, Context, Id, Locale, SeededRandomness,
    clock::ManualClock,
    id::MailId,
    mail::{EmailDraft, OutboxEmail, RenderedEmail},
    vault::MasterKeys,
};

use super::*;

fn vault(byte: u8) -> Vault {
    Vault::new(&MasterKeys::new(vec![[byte; 32]]).unwrap())
}

/// Holds one e-mail and the time at which it is due, or none.
struct MemoryOutbox {
    email: Mutex<Option<(ClaimedEmail, Timestamp)>>,
}

#[async_trait]
impl Outbox for MemoryOutbox {
    async fn claim_emails(
        &self,
        _: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<ClaimedEmail>, StoreError> {
        let mut email = self.email.lock().unwrap();
        let Some((waiting, due)) = email.as_mut().filter(|(_, due)| *due <= now) else {
            return Ok(Vec::new());
        };
        let taken = waiting.clone();
        waiting.attempts += 1;
        *due = now + lease;
        Ok(vec![taken])
    }

    async fn delete_email(&self, _: MailId) -> Result<(), StoreError> {
        *self.email.lock().unwrap() = None;
        Ok(())
    }

    async fn reschedule_email(&self, _: MailId, at: Timestamp) -> Result<(), StoreError> {
        self.email.lock().unwrap().as_mut().unwrap().1 = at;
        Ok(())
    }

    async fn wait_for_emails(&self, _: Duration) {}
}

/// Returns the scripted results in order, and records the deliveries.
struct ScriptedTransport {
    results: Mutex<Vec<Result<(), DeliveryError>>>,
    delivered: Mutex<Vec<(MailId, String)>>,
}

#[async_trait]
impl MailTransport for ScriptedTransport {
    async fn deliver(&self, id: MailId, content: &RenderedEmail) -> Result<(), DeliveryError> {
        self.delivered.lock().unwrap().push((id, content.to.clone()));
        self.results.lock().unwrap().remove(0)
    }
}

struct World {
    outbox: Arc<MemoryOutbox>,
    transport: Arc<ScriptedTransport>,
    clock: Arc<ManualClock>,
    worker: MailWorker,
}

impl World {
    fn new(results: Vec<Result<(), DeliveryError>>, key: u8) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        let random = Arc::new(SeededRandomness::new(5));
        let now = clock.now();
        let ctx = Context::new(Caller::Anonymous, now, Id::generate(&*random, now), None, random);
        let text = EmailDraft {
            locale: Locale::En,
            subject: "Hi".to_owned(),
            before: Vec::new(),
            code: None,
            link: None,
            after: Vec::new(),
        };
        let content = text.render("aru@example.com");
        let email = OutboxEmail::seal(&ctx, &vault(1), "test.mail", &content, TimeDelta::minutes(10));
        let waiting = ClaimedEmail {
            id: email.id,
            kind: email.kind.to_owned(),
            sealed: email.sealed,
            attempts: 0,
            expires_at: email.expires_at,
        };
        let outbox = Arc::new(MemoryOutbox { email: Mutex::new(Some((waiting, now))) });
        let transport =
            Arc::new(ScriptedTransport { results: Mutex::new(results), delivered: Mutex::default() });
        let worker = MailWorker::new(
            Arc::clone(&outbox) as _,
            Arc::clone(&transport) as _,
            vault(key),
            Arc::clone(&clock) as _,
        );
        Self { outbox, transport, clock, worker }
    }

    async fn send(&self) -> usize {
        self.worker.send_due(&CancellationToken::new()).await.unwrap()
    }

    fn due(&self) -> Option<i64> {
        self.outbox.email.lock().unwrap().as_ref().map(|(_, due)| due.timestamp())
    }

    fn delivered(&self) -> usize {
        self.transport.delivered.lock().unwrap().len()
    }
}

fn not_now() -> Result<(), DeliveryError> {
    Err(DeliveryError::Transient("busy".to_owned()))
}

#[tokio::test]
async fn an_email_is_retried_with_growing_delays_until_it_is_accepted() {
    let world = World::new(vec![not_now(), not_now(), Ok(())], 1);
    assert_eq!((world.send().await, world.due()), (1, Some(15)));
    assert_eq!(world.send().await, 0);
    world.clock.advance(TimeDelta::seconds(15));
    assert_eq!((world.send().await, world.due()), (1, Some(15 + 60)));
    world.clock.advance(TimeDelta::seconds(60));
    assert_eq!((world.send().await, world.due()), (1, None));
    let delivered = world.transport.delivered.lock().unwrap().clone();
    assert!(delivered.iter().all(|(id, to)| *id == delivered[0].0 && to == "aru@example.com"));
}

#[tokio::test]
async fn a_permanently_rejected_email_is_discarded() {
    let world = World::new(vec![Err(DeliveryError::Permanent("no such user".to_owned()))], 1);
    assert_eq!((world.send().await, world.due()), (1, None));
}

#[tokio::test]
async fn an_expired_or_unreadable_email_is_not_sent() {
    let late = World::new(vec![not_now()], 1);
    late.send().await;
    late.clock.advance(TimeDelta::minutes(10));
    assert_eq!((late.send().await, late.due(), late.delivered()), (1, None, 1));
    let unreadable = World::new(Vec::new(), 2);
    assert_eq!((unreadable.send().await, unreadable.due(), unreadable.delivered()), (1, None, 0));
}

#[tokio::test]
async fn a_worker_that_shuts_down_returns_its_emails() {
    let world = World::new(Vec::new(), 1);
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    world.worker.send_due(&shutdown).await.unwrap();
    assert_eq!((world.due(), world.delivered()), (Some(0), 0));
}

#[test]
fn retry_delays_grow_to_an_hour() {
    let waits: Vec<_> =
        (0..7).map(|attempts| next_attempt_at(attempts, Timestamp::UNIX_EPOCH).timestamp()).collect();
    assert_eq!(waits, [15, 60, 240, 960, 3_600, 3_600, 3_600]);
}
