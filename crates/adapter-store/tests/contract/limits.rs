//! Limits of the runs of an automation that may be at work at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use adapter_store::Store;
use kernel::{UnitOfWork as _, id::RunId};
use runs::{
    Automation, RunStatus, RunsTx as _, Trigger,
    queue::{AttemptOutcome, ClaimLimit, LEASE, RunFault, RunQueue as _},
    webhooks::{AcceptOutcome, WebhookStore as _},
};
use tokio::time::timeout;

use crate::{
    contract,
    harness::{Database, World, at, finished_run, ids_of},
};

/// Time after which a test that waits has failed.
const TIMEOUT: Duration = Duration::from_secs(60);

contract!(
    never_more_than_the_limit_and_all_in_order,
    accepted_calls_keep_to_the_limit,
    a_raised_limit_lets_more_in,
    a_lifted_limit_lets_all_in,
    a_run_that_is_tried_again_keeps_its_place,
    a_lost_run_keeps_its_place,
    limits_do_not_touch_other_automations,
    a_run_that_arrives_while_another_ends_has_its_place,
    a_call_that_arrives_while_its_limit_is_lifted_has_its_place,
    nodes_that_accept_and_end_runs_at_once_leave_none_behind,
);

async fn add_limited_automation(world: &World, limit: u16) -> Automation {
    let automation = Automation { max_concurrency: Some(limit), ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    automation
}

async fn enqueue(world: &World, automation: &Automation, count: usize) -> Vec<RunId> {
    let mut runs = Vec::new();
    for _ in 0..count {
        runs.push(world.enqueue(automation, at(0)).await);
    }
    runs
}

/// Returns the number of runs that may be at work, being ready or leased.
async fn count_runnable(world: &World) -> i64 {
    world.count("run_queue WHERE state IN (0, 1)").await
}

async fn never_more_than_the_limit_and_all_in_order(database: Database) {
    let world = World::new(database).await;
    let automation = add_limited_automation(&world, 2).await;
    let runs = enqueue(&world, &automation, 6).await;
    let node = world.id();
    let mut finished = Vec::new();
    let mut at_work = Vec::new();
    while finished.len() < 6 {
        assert!(count_runnable(&world).await <= 2);
        at_work.extend(world.claim(node, 10, at(0)).await);
        assert!(at_work.len() <= 2, "{} at work", at_work.len());
        let run = at_work.remove(0);
        assert!(world.finish(node, &run, AttemptOutcome::Succeeded).await);
        finished.push(run.id);
    }
    assert_eq!(finished, runs);
    assert_eq!(world.count("run_queue").await, 0);
}

async fn accepted_calls_keep_to_the_limit(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(Some(2)).await;
    let state = world.state(&webhook).await;
    let calls: Vec<_> = (0..6).map(|_| world.call(&state)).collect();
    let runs: Vec<_> = calls.iter().map(|call| call.run).collect();
    for verdict in futures::future::join_all(calls.into_iter().map(|call| world.store.accept(call))).await {
        assert_eq!(verdict.unwrap(), AcceptOutcome::Accepted);
    }
    assert_eq!(count_runnable(&world).await, 2);
    let node = world.id();
    let mut ended = Vec::new();
    loop {
        let claimed = world.claim(node, 10, at(0)).await;
        if claimed.is_empty() {
            break;
        }
        assert!(claimed.len() <= 2);
        // Both ends may share one transaction.
        let ends = claimed.iter().map(|run| world.finish(node, run, AttemptOutcome::Succeeded));
        assert!(futures::future::join_all(ends).await.into_iter().all(|held| held));
        assert!(count_runnable(&world).await <= 2);
        ended.extend(ids_of(&claimed));
    }
    ended.sort();
    assert_eq!(ended, runs);
}

async fn a_raised_limit_lets_more_in(database: Database) {
    let world = World::new(database).await;
    let automation = add_limited_automation(&world, 1).await;
    let runs = enqueue(&world, &automation, 5).await;
    let node = world.id();
    assert_eq!(ids_of(&world.claim(node, 10, at(0)).await), runs[..1]);
    let raised = Automation { max_concurrency: Some(3), ..automation.clone() };
    world.write(async |tx| tx.update_automation(&raised).await).await;
    assert_eq!(ids_of(&world.claim(node, 10, at(0)).await), runs[1..3]);
    // A lowered limit takes no run back, and lets none in until enough have ended.
    let lowered = Automation { max_concurrency: Some(1), ..automation };
    world.write(async |tx| tx.update_automation(&lowered).await).await;
    assert_eq!(count_runnable(&world).await, 3);
    assert_eq!(ids_of(&world.claim(node, 10, at(0)).await), []);
}

async fn a_lifted_limit_lets_all_in(database: Database) {
    let world = World::new(database).await;
    let automation = add_limited_automation(&world, 1).await;
    let runs = enqueue(&world, &automation, 5).await;
    let lifted = Automation { max_concurrency: None, ..automation };
    world.write(async |tx| tx.update_automation(&lifted).await).await;
    assert_eq!(ids_of(&world.claim(world.id(), 10, at(0)).await), runs);
}

async fn a_run_that_is_tried_again_keeps_its_place(database: Database) {
    let world = World::new(database).await;
    let automation = add_limited_automation(&world, 1).await;
    let runs = enqueue(&world, &automation, 2).await;
    let node = world.id();
    let claimed = world.claim(node, 10, at(0)).await.pop().unwrap();
    let fault = RunFault { code: "app_error".to_owned(), message: "no".to_owned() };
    assert!(world.finish(node, &claimed, AttemptOutcome::Retry { at: at(9_000), fault }).await);
    assert_eq!(ids_of(&world.claim(node, 10, at(8_999)).await), []);
    let again = world.claim(node, 10, at(9_000)).await.pop().unwrap();
    assert_eq!(again.id, runs[0]);
    assert!(world.finish(node, &again, AttemptOutcome::Succeeded).await);
    assert_eq!(ids_of(&world.claim(node, 10, at(9_000)).await), runs[1..]);
}

async fn a_lost_run_keeps_its_place(database: Database) {
    let world = World::new(database).await;
    let automation = add_limited_automation(&world, 1).await;
    let runs = enqueue(&world, &automation, 2).await;
    world.claim(world.id(), 10, at(0)).await;
    assert_eq!(world.store.release_expired_leases(at(0) + LEASE).await.unwrap(), 1);
    assert_eq!(count_runnable(&world).await, 1);
    let node = world.id();
    assert_eq!(ids_of(&world.claim(node, 10, at(0) + LEASE).await), runs[..1]);
    world.store.release(node, &runs).await.unwrap();
    assert_eq!(count_runnable(&world).await, 1);
    assert_eq!(ids_of(&world.claim(node, 10, at(0) + LEASE).await), runs[..1]);
}

async fn limits_do_not_touch_other_automations(database: Database) {
    let world = World::new(database).await;
    let (one, two) = (add_limited_automation(&world, 1).await, add_limited_automation(&world, 2).await);
    let free = world.automation(Trigger::Manual);
    world.write(async |tx| tx.insert_automation(&free).await).await;
    let ones = enqueue(&world, &one, 3).await;
    let twos = enqueue(&world, &two, 3).await;
    let frees = enqueue(&world, &free, 3).await;
    let claimed = ids_of(&world.claim(world.id(), 20, at(0)).await);
    let expected: Vec<_> = ones[..1].iter().chain(&twos[..2]).chain(&frees).copied().collect();
    assert_eq!(claimed, expected);
    assert_eq!(world.run(ones[2]).await.state.status(), RunStatus::Queued);
}

/// Somebody who enters a run counts those at work, and somebody else ends one of these: each before the other has committed.
async fn a_run_that_arrives_while_another_ends_has_its_place(database: Database) {
    let world = World::new(database).await;
    let automation = add_limited_automation(&world, 1).await;
    world.enqueue(&automation, at(0)).await;
    let node = world.id();
    let first = world.claim(node, 1, at(0)).await.pop().unwrap();
    let second = world.manual_run(&automation);
    let mut tx = world.store.begin().await.unwrap();
    tx.enqueue(&second).await.unwrap();
    tx.audit(world.context().audit_entry("session.create"));
    world
        .commit_while_waited_for(tx, async {
            assert!(world.finish(node, &first, AttemptOutcome::Succeeded).await);
        })
        .await;
    assert_eq!(ids_of(&world.claim(node, 1, at(0)).await), [second.id]);
}

async fn a_call_that_arrives_while_its_limit_is_lifted_has_its_place(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(Some(1)).await;
    let state = world.state(&webhook).await;
    world.store.accept(world.call(&state)).await.unwrap();
    let node = world.id();
    let first = world.claim(node, 1, at(0)).await.pop().unwrap();
    let second = world.call(&state);
    let run = second.run;
    let mut tx = world.store.begin().await.unwrap();
    tx.update_automation(&Automation { max_concurrency: None, ..automation }).await.unwrap();
    tx.audit(world.context().audit_entry("session.create"));
    let mut outcome = None;
    world.commit_while_waited_for(tx, async { outcome = Some(world.store.accept(second).await) }).await;
    // The call was found good under the limit: it is looked at again, or accepted without it.
    match outcome.unwrap().unwrap() {
        AcceptOutcome::Accepted => assert_eq!(ids_of(&world.claim(node, 1, at(0)).await), [run]),
        outcome => assert_eq!(outcome, AcceptOutcome::Stale),
    }
    assert!(world.finish(node, &first, AttemptOutcome::Succeeded).await);
}

async fn nodes_that_accept_and_end_runs_at_once_leave_none_behind(database: Database) {
    const CALLS: usize = 60;
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(Some(1)).await;
    let state = world.state(&webhook).await;
    let elsewhere = world.database.open().await;
    let accept_all = async |store: &Store| {
        for _ in 0..CALLS {
            assert_eq!(store.accept(world.call(&state)).await.unwrap(), AcceptOutcome::Accepted);
        }
    };
    let ended = AtomicUsize::new(0);
    let end_all = async |store: &Store| {
        let node = world.id();
        while ended.load(Ordering::Relaxed) < 2 * CALLS {
            let claimed = store.claim(node, ClaimLimit::with_total(4), Arc::new(at(0))).await.unwrap();
            assert!(claimed.len() <= 1, "{claimed:?}");
            for run in claimed {
                assert!(store.finish(node, finished_run(&run, AttemptOutcome::Succeeded)).await.unwrap());
                ended.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let all = async {
        tokio::join!(
            accept_all(&world.store),
            accept_all(&elsewhere),
            end_all(&world.store),
            end_all(&elsewhere)
        )
    };
    let left = timeout(TIMEOUT, all).await.map_err(|_| 2 * CALLS - ended.load(Ordering::Relaxed));
    assert!(left.is_ok(), "runs that were accepted and never started: {left:?}");
}
