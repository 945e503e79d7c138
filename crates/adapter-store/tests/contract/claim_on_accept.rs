//! Calls that are accepted while somebody asks for work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use kernel::{Clock, Timestamp, id::NodeId};
use runs::{
    RunStatus,
    queue::{AttemptOutcome, ClaimedRun, RunQueue as _},
    webhooks::{AcceptCall, AcceptOutcome, Webhook, WebhookStore as _},
};

use crate::{
    contract,
    harness::{Database, World, at, finished_run, json},
};

contract!(
    an_accepted_call_that_begins_at_once_is_as_one_that_was_queued,
    no_more_begin_than_are_asked_for,
    a_run_starts_when_it_is_taken_and_not_when_it_was_asked_for,
    what_waits_is_older_than_what_comes,
    bounded_automations_begin_as_before,
);

/// Accepts calls and claims for a node in one batch, where the database has one lane; what the claim got.
async fn accept_and_claim(
    world: &World,
    webhook: &Webhook,
    calls: Vec<AcceptCall>,
    (node, limit): (NodeId, u32),
) -> Vec<ClaimedRun> {
    // The lane waits for its turn to write with the first operation, and the others queue up behind it.
    let tx = world.store.begin().await.unwrap();
    let release = async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        drop(tx);
    };
    let behind = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let accepted = join_all(calls.into_iter().map(|call| world.store.accept(call)));
        tokio::join!(accepted, world.claim(node, limit, at(5)))
    };
    let (first, (), (verdicts, claimed)) =
        tokio::join!(world.store.record_refusal(world.refused(webhook)), release, behind);
    first.unwrap();
    for verdict in verdicts {
        assert_eq!(verdict.unwrap(), AcceptOutcome::Accepted);
    }
    claimed
}

async fn an_accepted_call_that_begins_at_once_is_as_one_that_was_queued(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let input = r#"{"n": 1.50, "text": "қала"}"#;
    let call = || AcceptCall { input: json(input), at: at(4), ..world.call(&state) };

    let queued = call();
    world.store.accept(queued).await.unwrap();
    let [queued] = world.claim(world.id(), 1, at(5)).await.try_into().unwrap();
    let node = world.id();
    let mut tries = 0;
    let begun = loop {
        let begun = accept_and_claim(&world, &webhook, vec![call()], (node, 1)).await;
        if !begun.is_empty() {
            break begun;
        }
        // They came apart: on a machine that is very slow, or because there are several lanes.
        let queued = world.claim(node, 1, at(5)).await;
        if world.database.url.starts_with("postgres") {
            break queued;
        }
        tries += 1;
        assert!(tries < 10, "nothing begins at once");
    };
    let [begun] = begun.try_into().unwrap();
    let but_for_its_id = |run: &ClaimedRun| format!("{run:?}").replace(&format!("{:?}", run.id), "");
    assert_eq!(but_for_its_id(&begun), but_for_its_id(&queued));
    assert_eq!(begun.input.get(), input);

    let [of_begun, of_queued] = [world.run(begun.id).await, world.run(queued.id).await];
    assert_eq!(of_begun.state.status(), RunStatus::Running);
    assert_eq!(of_begun.state, of_queued.state);
    assert_eq!((of_begun.version.map(|version| version.id), of_begun.attempt), (Some(world.version), 1));
    // It is the node's, and nobody else's.
    assert!(world.claim(world.id(), 1, at(5)).await.is_empty());
    assert_eq!(world.store.extend_leases(node, &[begun.id], at(6)).await.unwrap(), [begun.id]);
    assert!(!world.store.finish(world.id(), finished_run(&begun, AttemptOutcome::Succeeded)).await.unwrap());
    assert!(world.store.finish(node, finished_run(&begun, AttemptOutcome::Succeeded)).await.unwrap());
    assert_eq!(world.run(begun.id).await.state.status(), RunStatus::Succeeded);
}

/// A clock that goes on with each look at it.
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        at(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

async fn a_run_starts_when_it_is_taken_and_not_when_it_was_asked_for(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    world.store.accept(world.call(&*world.state(&webhook).await)).await.unwrap();
    let clock = Arc::new(TickingClock(AtomicI64::new(5)));
    let asked: Arc<dyn Clock> = Arc::<TickingClock>::clone(&clock);
    let [run] = world
        .store
        .claim(world.id(), runs::queue::ClaimLimit::with_total(1), asked)
        .await
        .unwrap()
        .try_into()
        .unwrap();
    // The last look, once it was taken.
    assert_eq!(run.started_at, at(clock.0.load(Ordering::Relaxed) - 1));
    assert!(run.started_at > at(5), "{run:?}");
}

async fn no_more_begin_than_are_asked_for(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let calls: Vec<_> = (0..3).map(|_| world.call(&state)).collect();
    let ids: Vec<_> = calls.iter().map(|call| call.run).collect();
    let node = world.id();
    let mut claimed = accept_and_claim(&world, &webhook, calls, (node, 2)).await;
    assert!(claimed.len() <= 2);
    claimed.extend(world.claim(node, 10, at(5)).await);
    let mut of_all: Vec<_> = claimed.iter().map(|run| run.id).collect();
    of_all.sort_unstable();
    assert_eq!(of_all, ids);
}

async fn what_waits_is_older_than_what_comes(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let older = world.call(&state);
    let first = older.run;
    world.store.accept(older).await.unwrap();
    let claimed = accept_and_claim(&world, &webhook, vec![world.call(&state)], (world.id(), 1)).await;
    assert_eq!(claimed.iter().map(|run| run.id).collect::<Vec<_>>(), [first]);
}

async fn bounded_automations_begin_as_before(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(Some(1)).await;
    let state = world.state(&webhook).await;
    let calls = vec![world.call(&state), world.call(&state)];
    let first = calls[0].run;
    let node = world.id();
    let mut claimed = accept_and_claim(&world, &webhook, calls, (node, 10)).await;
    claimed.extend(world.claim(node, 10, at(5)).await);
    assert_eq!(claimed.iter().map(|run| run.id).collect::<Vec<_>>(), [first]);
}
