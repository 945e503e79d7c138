//! Schedules, as the one who starts them sees them.

use kernel::Timestamp;
use runs::{
    Automation, RunsRead as _, RunsTx as _, Trigger, TriggerKind, automations::schedule::Schedule,
    ports::Schedules as _, queue::NewRun,
};

use crate::{
    contract,
    harness::{Database, World, at, ids_of},
};

contract!(
    the_longest_overdue_comes_first,
    a_moment_strikes_once,
    a_moment_passes_while_the_app_cannot_run,
    a_moment_passes_when_the_runs_are_used_up,
);

async fn scheduled(world: &World, next: Option<Timestamp>) -> Automation {
    let schedule = Trigger::Schedule(Schedule::parse("0 * * * *", None).unwrap());
    let automation = Automation { next_run_at: next, ..world.automation(schedule) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    automation
}

fn run_of(world: &World, automation: &Automation) -> NewRun {
    NewRun { trigger: TriggerKind::Schedule, ..world.manual_run(automation) }
}

async fn next_of(world: &World, automation: &Automation) -> Option<Timestamp> {
    world.store.automation(world.workspace, automation.id).await.unwrap().unwrap().next_run_at
}

async fn the_longest_overdue_comes_first(database: Database) {
    let world = World::new(database).await;
    let late = scheduled(&world, Some(at(200))).await;
    let later = scheduled(&world, Some(at(100))).await;
    let to_come = scheduled(&world, Some(at(300))).await;
    scheduled(&world, None).await;
    let due = async |now, limit| world.store.due_automations(now, limit).await.unwrap();
    assert_eq!(due(at(99), 10).await, []);
    assert_eq!(due(at(299), 10).await, [later.clone(), late.clone()]);
    assert_eq!(*due(at(299), 1).await, *std::slice::from_ref(&later));
    assert_eq!(due(at(300), 10).await, [later, late, to_come]);
}

async fn a_moment_strikes_once(database: Database) {
    let world = World::new(database).await;
    let automation = scheduled(&world, Some(at(100))).await;
    let elsewhere = world.database.open().await;
    let runs: Vec<_> = (0..6).map(|_| run_of(&world, &automation)).collect();
    let ids: Vec<_> = runs.iter().map(|run| run.id).collect();
    let strikes = runs.into_iter().enumerate().map(|(index, run)| {
        let store = if index % 2 == 0 { &world.store } else { &elsewhere };
        store.strike(&automation, at(100), Some(at(200)), run)
    });
    let struck: Vec<bool> =
        futures::future::join_all(strikes).await.into_iter().map(|struck| struck.unwrap()).collect();
    assert_eq!(struck.iter().filter(|struck| **struck).count(), 1);
    let winner = ids[struck.iter().position(|struck| *struck).unwrap()];
    assert_eq!(next_of(&world, &automation).await, Some(at(200)));
    let claimed = world.claim(world.id(), 10, at(200)).await;
    assert_eq!(ids_of(&claimed), [winner]);
    assert_eq!(claimed[0].cron.as_deref(), Some("0 * * * *"));
    assert_eq!(world.count("workspace_usage WHERE runs = 1").await, 1);
    // It waits for the next moment now, and then for none.
    assert!(!world.store.strike(&automation, at(100), None, run_of(&world, &automation)).await.unwrap());
    assert!(world.store.strike(&automation, at(200), None, run_of(&world, &automation)).await.unwrap());
    assert_eq!(next_of(&world, &automation).await, None);
    assert_eq!(world.count("runs").await, 2);
}

async fn a_moment_passes_while_the_app_cannot_run(database: Database) {
    let world = World::new(database).await;
    let automation = scheduled(&world, Some(at(100))).await;
    world.publish(world.app, Some(world.version), true).await;
    let run = run_of(&world, &automation);
    assert!(world.store.strike(&automation, at(100), Some(at(200)), run).await.unwrap());
    assert_eq!(next_of(&world, &automation).await, Some(at(200)));
    assert_eq!((world.count("runs").await, world.count("workspace_usage").await), (0, 0));
}

async fn a_moment_passes_when_the_runs_are_used_up(database: Database) {
    let world = World::new(database).await;
    let automation = scheduled(&world, Some(at(100))).await;
    world.execute("UPDATE workspaces SET plan = 'free'", Vec::new()).await;
    for used in [999_i64, 1_000] {
        world.execute("DELETE FROM workspace_usage", Vec::new()).await;
        let values = vec![world.workspace.uuid().into(), used.into()];
        world.execute("INSERT INTO workspace_usage VALUES ($1, '2026-11', $2)", values).await;
        let due = next_of(&world, &automation).await.unwrap();
        let next = due + chrono::TimeDelta::seconds(1);
        let run = run_of(&world, &automation);
        assert!(world.store.strike(&automation, due, Some(next), run).await.unwrap());
        assert_eq!(next_of(&world, &automation).await, Some(next));
        assert_eq!(world.count("workspace_usage WHERE runs = 1000").await, 1);
        assert_eq!(world.count("runs").await, 1);
    }
}
