//! Letters on their way out.

use chrono::TimeDelta;
use kernel::{
    UnitOfWork as _,
    id::MailId,
    mail::{Outbox as _, OutboxEmail},
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    a_letter_waits_once_its_transaction_is_kept,
    a_letter_is_taken_by_one_at_a_time,
    the_oldest_letters_go_first,
    a_letter_counts_as_a_write,
);

const LEASE: TimeDelta = TimeDelta::seconds(60);

fn email(world: &World, second: i64) -> OutboxEmail {
    OutboxEmail {
        id: world.id(),
        kind: "test.mail",
        sealed: format!("sealed {second}"),
        created_at: at(second * 1000),
        expires_at: at(3_600_000),
    }
}

async fn take_ids(world: &World, limit: u32, millis: i64) -> Vec<MailId> {
    let letters = world.store.claim_emails(limit, at(millis), LEASE).await.unwrap();
    letters.iter().map(|letter| letter.id).collect()
}

async fn a_letter_waits_once_its_transaction_is_kept(database: Database) {
    let world = World::new(database).await;
    let (kept, dropped) = (email(&world, 1), email(&world, 1));
    let mut tx = world.store.begin().await.unwrap();
    tx.enqueue_email(dropped);
    drop(tx);
    let written = kept.clone();
    world
        .write(async |tx| {
            tx.enqueue_email(written);
            Ok(())
        })
        .await;
    assert_eq!(take_ids(&world, 10, 999).await, []);
    let waiting = world.store.claim_emails(10, at(1000), LEASE).await.unwrap();
    let [found] = waiting.as_slice() else { panic!("{waiting:?}") };
    assert_eq!((found.id, found.kind.as_str(), found.sealed.as_str()), (kept.id, "test.mail", "sealed 1"));
    assert_eq!((found.attempts, found.expires_at), (0, kept.expires_at));
}

async fn a_letter_is_taken_by_one_at_a_time(database: Database) {
    let world = World::new(database).await;
    let letters: Vec<_> = (0..40).map(|_| email(&world, 0)).collect();
    let written = letters.clone();
    world
        .write(async |tx| {
            written.into_iter().for_each(|letter| tx.enqueue_email(letter));
            Ok(())
        })
        .await;
    let (a, b) = tokio::join!(take_ids(&world, 40, 0), take_ids(&world, 40, 0));
    assert!(a.iter().all(|id| !b.contains(id)), "{a:?} {b:?}");
    let mut all: Vec<_> = a.into_iter().chain(b).chain(take_ids(&world, 40, 0).await).collect();
    all.sort();
    let mut expected: Vec<_> = letters.iter().map(|letter| letter.id).collect();
    expected.sort();
    assert_eq!(all, expected);

    // Whoever took them is gone: the lease ends. One was sent, one is to be tried later.
    world.store.delete_email(letters[0].id).await.unwrap();
    world.store.reschedule_email(letters[1].id, at(100_000)).await.unwrap();
    assert_eq!(take_ids(&world, 100, 59_999).await.len(), 0);
    let again = world.store.claim_emails(100, at(60_000), LEASE).await.unwrap();
    assert_eq!(again.len(), 38);
    assert!(again.iter().all(|letter| letter.attempts == 1));
    assert_eq!(take_ids(&world, 100, 100_000).await, [letters[1].id]);
}

async fn the_oldest_letters_go_first(database: Database) {
    let world = World::new(database).await;
    let letters: Vec<_> = [3, 1, 2].map(|second| email(&world, second)).into();
    let written = letters.clone();
    world
        .write(async |tx| {
            written.into_iter().for_each(|letter| tx.enqueue_email(letter));
            Ok(())
        })
        .await;
    for at in [1, 2, 0] {
        assert_eq!(take_ids(&world, 1, 10_000).await, [letters[at].id]);
    }
}

async fn a_letter_counts_as_a_write(database: Database) {
    let world = World::new(database).await;
    let mut tx = world.store.begin().await.unwrap();
    tx.enqueue_email(email(&world, 0));
    assert!(matches!(Box::new(tx).commit().await, Err(kernel::StoreError::NotAudited)));
    assert_eq!(world.count("outbox").await, 0);
}
