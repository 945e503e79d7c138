//! Alerts: an app that fails again and again is told of once.

use futures::future::join_all;
use kernel::{
    events::EventKind,
    id::{NodeId, RunId},
};
use observability::{
    EventFeed as _,
    feed::{FeedQuery, Topic},
};
use runs::{
    RunsTx as _,
    queue::{AttemptOutcome, RunFault},
};

use crate::{
    contract,
    harness::{Database, World, at, reader},
};

contract!(
    the_third_failure_in_a_row_is_told,
    failures_of_one_batch_count_one_by_one,
    an_automation_that_keeps_failing_is_told_of_beside_one_that_works,
);

fn failed(code: &str) -> AttemptOutcome {
    AttemptOutcome::Failed(RunFault { code: code.to_owned(), message: "No.".to_owned() })
}

/// Runs a manual run to a conclusion.
async fn run_to_conclusion(
    world: &World,
    automation: &runs::Automation,
    node: NodeId,
    conclusion: AttemptOutcome,
) -> RunId {
    let run = world.enqueue(automation, at(1)).await;
    let claimed = world.claim(node, 1, at(2)).await;
    assert_eq!(claimed.first().map(|claimed| claimed.id), Some(run));
    assert!(world.finish(node, &claimed[0], conclusion).await);
    run
}

/// The runs that alerts name, with their codes.
async fn load_alerts(world: &World) -> Vec<(RunId, String)> {
    let query = FeedQuery { after: 0, topic: Topic::Outcomes, limit: 100 };
    let page = world.store.feed(&reader(world.workspace), query).await.unwrap();
    let named = page.events.into_iter().filter_map(|event| match event.kind {
        EventKind::AppFailing { run, code } => Some((run, code)),
        _ => None,
    });
    named.collect()
}

async fn the_third_failure_in_a_row_is_told(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    run_to_conclusion(&world, &automation, node, failed("timeout")).await;
    run_to_conclusion(&world, &automation, node, AttemptOutcome::Succeeded).await;
    run_to_conclusion(&world, &automation, node, failed("timeout")).await;
    // Tried again, and failed: one failure, not two.
    world.enqueue(&automation, at(1)).await;
    let claimed = world.claim(node, 1, at(2)).await;
    let fault = RunFault { code: "app_error".to_owned(), message: "No.".to_owned() };
    assert!(world.finish(node, &claimed[0], AttemptOutcome::Retry { at: at(3), fault: fault.clone() }).await);
    let claimed = world.claim(node, 1, at(4)).await;
    assert!(world.finish(node, &claimed[0], AttemptOutcome::Blocked(fault)).await);
    assert_eq!(load_alerts(&world).await, []);
    let third = run_to_conclusion(&world, &automation, node, failed("app_error")).await;
    let told = [(third, "app_error".to_owned())];
    assert_eq!(load_alerts(&world).await, told);
    run_to_conclusion(&world, &automation, node, failed("timeout")).await;
    assert_eq!(load_alerts(&world).await, told);

    run_to_conclusion(&world, &automation, node, AttemptOutcome::Succeeded).await;
    for _ in 0..2 {
        run_to_conclusion(&world, &automation, node, failed("timeout")).await;
        assert_eq!(load_alerts(&world).await, told);
    }
    let again = run_to_conclusion(&world, &automation, node, failed("timeout")).await;
    assert_eq!(load_alerts(&world).await[1..], [(again, "timeout".to_owned())]);
}

async fn failures_of_one_batch_count_one_by_one(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    for _ in 0..20 {
        world.enqueue(&automation, at(1)).await;
    }
    let claimed = world.claim(node, 20, at(2)).await;
    assert_eq!(claimed.len(), 20);
    let held = join_all(claimed.iter().map(|run| world.finish(node, run, failed("timeout")))).await;
    assert_eq!(held, [true; 20]);
    assert_eq!(load_alerts(&world).await.len(), 1);
}

async fn an_automation_that_keeps_failing_is_told_of_beside_one_that_works(database: Database) {
    let world = World::new(database).await;
    let (broken, _) = world.add_webhook_automation(None).await;
    let works = world.automation(runs::Trigger::Manual);
    world.write(async |tx| tx.insert_automation(&works).await).await;
    let node = world.id();
    let told = async || {
        let query = FeedQuery { after: 0, topic: Topic::Outcomes, limit: 100 };
        let page = world.store.feed(&reader(world.workspace), query).await.unwrap();
        let named = page.events.into_iter().filter_map(|event| match event.kind {
            EventKind::AutomationFailing { automation, run, .. } => Some((automation, run)),
            _ => None,
        });
        named.collect::<Vec<_>>()
    };
    let mut failures = Vec::new();
    for _ in 0..4 {
        failures.push(run_to_conclusion(&world, &broken, node, failed("timeout")).await);
        run_to_conclusion(&world, &works, node, AttemptOutcome::Succeeded).await;
    }
    assert_eq!(told().await, [(broken.id, failures[2])], "once");
    assert_eq!(load_alerts(&world).await, [], "the app works in between");
    run_to_conclusion(&world, &broken, node, AttemptOutcome::Succeeded).await;
    for _ in 0..3 {
        failures.push(run_to_conclusion(&world, &broken, node, failed("timeout")).await);
    }
    assert_eq!(told().await, [(broken.id, failures[2]), (broken.id, failures[6])]);
}
