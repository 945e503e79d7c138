//! Runs that wait because the runs of the month were used up.

use adapter_store::Store;
use futures::future::join_all;
use runs::{
    Automation, RunsRead as _, RunsTx as _, Trigger,
    queue::{AttemptOutcome, NewRun},
    quota::{Admission, HeldRunsStore as _, MAX_HELD_RUNS},
    runs::RunState,
};
use workspace::{Plan, WorkspaceTx as _};

use crate::{
    contract,
    harness::{Database, World, at, ids_of},
    queue::{add_automation_in_new_workspace, add_manual_automation},
};

contract!(
    what_the_quota_holds_is_released_as_there_is_room,
    two_nodes_release_and_count_each_run_once,
    a_thousand_runs_are_held_and_no_more,
    what_was_held_for_too_long_fails,
);

async fn what_the_quota_holds_is_released_as_there_is_room(database: Database) {
    let world = World::new(database).await;
    let free = add_manual_automation(&world).await;
    let limited = Automation { max_concurrency: Some(1), ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&limited).await).await;
    let mut held = Vec::new();
    for automation in [&free, &limited, &limited] {
        let run = NewRun { is_on_hold: true, ..world.manual_run(automation) };
        world.write(async |tx| tx.enqueue(&run).await).await;
        held.push(run.id);
    }
    let started = world.enqueue(&free, at(0)).await;
    let node = world.id();
    let claimed = world.claim(node, 10, at(50)).await;
    assert_eq!(ids_of(&claimed), [started]);
    let health = world.store.queue_health(world.workspace, at(50)).await.unwrap();
    assert_eq!((health.queued, health.running), (3, 1), "what is held still waits");
    assert!(world.finish(node, &claimed[0], AttemptOutcome::Succeeded).await);
    // Another workspace's quota is another.
    let other = add_automation_in_new_workspace(&world, "elsewhere").await;
    assert_eq!(world.store.workspaces_with_held_runs().await.unwrap(), [world.workspace]);
    assert_eq!(world.store.release_held_runs(other.workspace, at(50)).await.unwrap(), 0);

    use_runs(&world, 1_099).await;
    assert_eq!(world.store.release_held_runs(world.workspace, at(60)).await.unwrap(), 1);
    assert_eq!(world.store.release_held_runs(world.workspace, at(60)).await.unwrap(), 0);
    let claimed = world.claim(node, 10, at(60)).await;
    assert_eq!(ids_of(&claimed), [held[0]], "the oldest goes first");
    assert!(world.finish(node, &claimed[0], AttemptOutcome::Succeeded).await);
    // The month after has room for the others.
    let next_month = at(40 * 24 * 60 * 60 * 1_000);
    assert_eq!(world.store.release_held_runs(world.workspace, next_month).await.unwrap(), 2);
    assert_eq!(ids_of(&world.claim(node, 10, next_month).await), [held[1]], "one place is all there is");
    assert_eq!(world.store.workspaces_with_held_runs().await.unwrap(), []);
    assert_eq!(world.count("workspace_usage WHERE runs = 2").await, 1);

    world.write(async |tx| tx.set_plan(world.workspace, Plan::Sovereign).await).await;
    let run = NewRun { is_on_hold: true, ..world.manual_run(&free) };
    world.write(async |tx| tx.enqueue(&run).await).await;
    assert_eq!(world.store.release_held_runs(world.workspace, at(70)).await.unwrap(), 1);
}

/// Gives the workspace a plan of 1,000 runs a month, of which so many are used in the month of [`at`].
async fn use_runs(world: &World, used: i64) {
    world.write(async |tx| tx.set_plan(world.workspace, Plan::Free).await).await;
    world.execute("DELETE FROM workspace_usage", Vec::new()).await;
    let values = vec![world.workspace.uuid().into(), used.into()];
    world.execute("INSERT INTO workspace_usage VALUES ($1, '2026-11', $2)", values).await;
}

async fn two_nodes_release_and_count_each_run_once(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    use_runs(&world, 0).await;
    world
        .write(async |tx| {
            for _ in 0..60 {
                tx.enqueue(&NewRun { is_on_hold: true, ..world.manual_run(&automation) }).await?;
            }
            Ok(())
        })
        .await;
    let other = world.database.open().await;
    let release =
        |store: Store| async move { store.release_held_runs(world.workspace, at(0)).await.unwrap() };
    let released =
        join_all([&world.store, &other, &world.store, &other].map(|store| release(store.clone()))).await;
    assert_eq!(released.iter().sum::<u64>(), 60, "{released:?}");
    assert_eq!(world.count("workspace_usage WHERE runs = 60").await, 1);
    assert_eq!(world.claim(world.id(), 100, at(0)).await.len(), 60);
}

async fn a_thousand_runs_are_held_and_no_more(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let admit = async || world.write(async |tx| tx.admit_run(world.workspace, at(0), Some(0)).await).await;
    world
        .write(async |tx| {
            for _ in 1..MAX_HELD_RUNS {
                let run = NewRun { is_on_hold: true, ..world.manual_run(&automation) };
                tx.enqueue(&run).await?;
            }
            Ok(())
        })
        .await;
    assert_eq!(admit().await, Admission::Hold);
    let last = NewRun { is_on_hold: true, ..world.manual_run(&automation) };
    world.write(async |tx| tx.enqueue(&last).await).await;
    assert_eq!(admit().await, Admission::Refuse);
    assert_eq!(world.count("workspace_usage").await, 0);
}

async fn what_was_held_for_too_long_fails(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let mut held = Vec::new();
    for accepted in [0, 1, 2] {
        let run = NewRun { is_on_hold: true, at: at(accepted), ..world.manual_run(&automation) };
        world.write(async |tx| tx.enqueue(&run).await).await;
        held.push(run.id);
    }
    // One that is put off has not waited before its time.
    let later = NewRun { is_on_hold: true, scheduled_for: Some(at(500)), ..world.manual_run(&automation) };
    world.write(async |tx| tx.enqueue(&later).await).await;
    let started = world.enqueue(&automation, at(0)).await;
    assert_eq!(world.store.drop_held_runs(world.workspace, at(1), at(90)).await.unwrap(), 2);
    assert_eq!(world.store.drop_held_runs(world.workspace, at(1), at(90)).await.unwrap(), 0);
    for run in &held[..2] {
        let RunState::Failed(span, fault) = world.run(*run).await.state else { panic!("{run} goes on") };
        assert_eq!((span.finished_at, fault.code.as_str()), (at(90), "quota_reached"));
    }
    assert_eq!(world.count("workspace_events WHERE code = 'quota_reached'").await, 2);
    for waiting in [held[2], later.id] {
        assert_eq!(world.run(waiting).await.state, RunState::Queued { fault: None });
    }
    assert_eq!(ids_of(&world.claim(world.id(), 10, at(90)).await), [started]);
}
