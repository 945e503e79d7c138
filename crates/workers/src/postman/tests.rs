use std::sync::Mutex;

use async_trait::async_trait;
use kernel::{
    Caller, Context, Id, Locale, SeededRandomness,
    clock::ManualClock,
    id::MailId,
    mail::{Content, Letter, Text},
    vault::MasterKeys,
};

use super::*;

fn vault(byte: u8) -> Vault {
    Vault::new(&MasterKeys::new(vec![[byte; 32]]).unwrap())
}

/// One letter that waits, or waits no more.
struct Memory {
    letter: Mutex<Option<(Waiting, Timestamp)>>,
}

#[async_trait]
impl Outbox for Memory {
    async fn take(&self, _: u32, now: Timestamp, lease: TimeDelta) -> Result<Vec<Waiting>, StoreError> {
        let mut letter = self.letter.lock().unwrap();
        let Some((waiting, due)) = letter.as_mut().filter(|(_, due)| *due <= now) else {
            return Ok(Vec::new());
        };
        let taken = waiting.clone();
        waiting.attempts += 1;
        *due = now + lease;
        Ok(vec![taken])
    }

    async fn done(&self, _: MailId) -> Result<(), StoreError> {
        *self.letter.lock().unwrap() = None;
        Ok(())
    }

    async fn again(&self, _: MailId, at: Timestamp) -> Result<(), StoreError> {
        self.letter.lock().unwrap().as_mut().unwrap().1 = at;
        Ok(())
    }

    async fn wait_for_letters(&self, _: Duration) {}
}

/// Says what it was told to say, and keeps to whom it was sent.
struct Script {
    answers: Mutex<Vec<Result<(), Undelivered>>>,
    delivered: Mutex<Vec<(MailId, String)>>,
}

#[async_trait]
impl Courier for Script {
    async fn deliver(&self, letter: MailId, content: &Content) -> Result<(), Undelivered> {
        self.delivered.lock().unwrap().push((letter, content.to.clone()));
        self.answers.lock().unwrap().remove(0)
    }
}

struct World {
    outbox: Arc<Memory>,
    courier: Arc<Script>,
    clock: Arc<ManualClock>,
    postman: Postman,
}

impl World {
    fn new(answers: Vec<Result<(), Undelivered>>, key: u8) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        let random = Arc::new(SeededRandomness::new(5));
        let now = clock.now();
        let ctx = Context::new(Caller::Visitor, now, Id::generate(&*random, now), None, random);
        let text = Text {
            locale: Locale::En,
            subject: "Hi".to_owned(),
            before: Vec::new(),
            code: None,
            link: None,
            after: Vec::new(),
        };
        let content = text.content("aru@example.com");
        let letter = Letter::seal(&ctx, &vault(1), "test.mail", &content, TimeDelta::minutes(10));
        let waiting = Waiting {
            id: letter.id,
            kind: letter.kind.to_owned(),
            sealed: letter.sealed,
            attempts: 0,
            give_up_at: letter.give_up_at,
        };
        let outbox = Arc::new(Memory { letter: Mutex::new(Some((waiting, now))) });
        let courier = Arc::new(Script { answers: Mutex::new(answers), delivered: Mutex::default() });
        let postman = Postman::new(
            Arc::clone(&outbox) as _,
            Arc::clone(&courier) as _,
            vault(key),
            Arc::clone(&clock) as _,
        );
        Self { outbox, courier, clock, postman }
    }

    async fn send(&self) -> usize {
        self.postman.send_due(&CancellationToken::new()).await.unwrap()
    }

    fn due(&self) -> Option<i64> {
        self.outbox.letter.lock().unwrap().as_ref().map(|(_, due)| due.timestamp())
    }

    fn delivered(&self) -> usize {
        self.courier.delivered.lock().unwrap().len()
    }
}

fn not_now() -> Result<(), Undelivered> {
    Err(Undelivered::Transient("busy".to_owned()))
}

#[tokio::test]
async fn a_letter_is_tried_again_later_and_later_until_it_is_taken() {
    let world = World::new(vec![not_now(), not_now(), Ok(())], 1);
    assert_eq!((world.send().await, world.due()), (1, Some(15)));
    assert_eq!(world.send().await, 0);
    world.clock.advance(TimeDelta::seconds(15));
    assert_eq!((world.send().await, world.due()), (1, Some(15 + 60)));
    world.clock.advance(TimeDelta::seconds(60));
    assert_eq!((world.send().await, world.due()), (1, None));
    let delivered = world.courier.delivered.lock().unwrap().clone();
    assert!(delivered.iter().all(|(id, to)| *id == delivered[0].0 && to == "aru@example.com"));
}

#[tokio::test]
async fn a_letter_that_will_never_be_taken_is_given_up() {
    let world = World::new(vec![Err(Undelivered::Permanent("no such user".to_owned()))], 1);
    assert_eq!((world.send().await, world.due()), (1, None));
}

#[tokio::test]
async fn a_letter_that_comes_too_late_or_cannot_be_read_is_not_sent() {
    let late = World::new(vec![not_now()], 1);
    late.send().await;
    late.clock.advance(TimeDelta::minutes(10));
    assert_eq!((late.send().await, late.due(), late.delivered()), (1, None, 1));
    let unreadable = World::new(Vec::new(), 2);
    assert_eq!((unreadable.send().await, unreadable.due(), unreadable.delivered()), (1, None, 0));
}

#[tokio::test]
async fn a_postman_who_is_told_to_stop_puts_letters_back() {
    let world = World::new(Vec::new(), 1);
    let shutdown = CancellationToken::new();
    shutdown.cancel();
    world.postman.send_due(&shutdown).await.unwrap();
    assert_eq!((world.due(), world.delivered()), (Some(0), 0));
}

#[test]
fn waits_grow_to_an_hour() {
    let waits: Vec<_> =
        (0..7).map(|attempts| next_try(attempts, Timestamp::UNIX_EPOCH).timestamp()).collect();
    assert_eq!(waits, [15, 60, 240, 960, 3_600, 3_600, 3_600]);
}
