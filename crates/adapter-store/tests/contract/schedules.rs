//! Schedules, as the one who starts them sees them.

use kernel::Timestamp;
use runs::{
    Automation, RunsRead as _, RunsTx as _, Trigger, TriggerKind,
    automations::{
        occurrences::{
            CatchUp, NewOccurrence, OccurrencePlan, OccurrenceResult, OccurrencesRead as _, Overlap,
            SchedulePolicy, SkipReason,
        },
        schedule::Schedule,
    },
    ports::ScheduleStore as _,
    queue::{AttemptOutcome, NewRun},
    quota::HeldRunsStore as _,
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at, ids_of},
};

contract!(
    the_longest_overdue_comes_first,
    a_moment_strikes_once,
    a_moment_passes_while_the_app_cannot_run,
    moments_fold_into_one_run_when_the_runs_are_used_up,
    a_moment_passes_while_an_earlier_run_is_not_over,
    every_moment_that_passed_has_a_row,
);

async fn add_scheduled(world: &World, next: Option<Timestamp>) -> Automation {
    let schedule = Trigger::Schedule(Schedule::parse("0 * * * *", None).unwrap());
    let automation = Automation { next_run_at: next, ..world.automation(schedule) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    automation
}

fn run_of(world: &World, automation: &Automation) -> NewRun {
    NewRun { trigger: TriggerKind::Schedule, ..world.manual_run(automation) }
}

/// An occurrence that is due, with its run.
fn due_occurrence(world: &World, due_at: Timestamp, run: NewRun) -> Vec<NewOccurrence> {
    vec![NewOccurrence {
        id: world.id(),
        due_at,
        plan: OccurrencePlan::Start { run: Box::new(run), is_late: false },
    }]
}

/// Returns the outcomes of an automation's occurrences, the last first.
async fn outcomes(world: &World, automation: &Automation) -> Vec<(Timestamp, OccurrenceResult)> {
    let found = world.store.occurrences(world.workspace, automation.id, PAGE).await.unwrap();
    found.into_iter().map(|occurrence| (occurrence.due_at, occurrence.outcome)).collect()
}

async fn next_run_at(world: &World, automation: &Automation) -> Option<Timestamp> {
    world.store.automation(world.workspace, automation.id).await.unwrap().unwrap().next_run_at
}

async fn the_longest_overdue_comes_first(database: Database) {
    let world = World::new(database).await;
    let late = add_scheduled(&world, Some(at(200))).await;
    let later = add_scheduled(&world, Some(at(100))).await;
    let to_come = add_scheduled(&world, Some(at(300))).await;
    add_scheduled(&world, None).await;
    let due = async |now, limit| world.store.due_automations(now, limit).await.unwrap();
    assert_eq!(due(at(99), 10).await, []);
    assert_eq!(due(at(299), 10).await, [later.clone(), late.clone()]);
    assert_eq!(*due(at(299), 1).await, *std::slice::from_ref(&later));
    assert_eq!(due(at(300), 10).await, [later, late, to_come]);
}

async fn a_moment_strikes_once(database: Database) {
    let world = World::new(database).await;
    let automation = add_scheduled(&world, Some(at(100))).await;
    let elsewhere = world.database.open().await;
    let runs: Vec<_> = (0..6).map(|_| run_of(&world, &automation)).collect();
    let ids: Vec<_> = runs.iter().map(|run| run.id).collect();
    let strikes = runs.into_iter().enumerate().map(|(index, run)| {
        let store = if index % 2 == 0 { &world.store } else { &elsewhere };
        store.fire_schedule(
            &automation,
            at(100),
            due_occurrence(&world, at(100), run),
            Some(at(200)),
            at(100),
        )
    });
    let struck: Vec<bool> =
        futures::future::join_all(strikes).await.into_iter().map(|struck| struck.unwrap()).collect();
    assert_eq!(struck.iter().filter(|struck| **struck).count(), 1);
    let winner = ids[struck.iter().position(|struck| *struck).unwrap()];
    assert_eq!(next_run_at(&world, &automation).await, Some(at(200)));
    let claimed = world.claim(world.id(), 10, at(200)).await;
    assert_eq!(ids_of(&claimed), [winner]);
    assert_eq!(claimed[0].cron.as_deref(), Some("0 * * * *"));
    assert_eq!(world.count("workspace_usage WHERE runs = 1").await, 1);
    // It waits for the next moment now, and then for none.
    let strike = async |due| {
        let passed = due_occurrence(&world, due, run_of(&world, &automation));
        world.store.fire_schedule(&automation, due, passed, None, due).await.unwrap()
    };
    assert!(!strike(at(100)).await);
    assert!(strike(at(200)).await);
    let ledger = outcomes(&world, &automation).await;
    assert_eq!(ledger[1..], [(at(100), OccurrenceResult::Ran(winner))]);
    assert_eq!(ledger.len(), 2);
    assert_eq!(next_run_at(&world, &automation).await, None);
    assert_eq!(world.count("runs").await, 2);
}

async fn a_moment_passes_while_the_app_cannot_run(database: Database) {
    let world = World::new(database).await;
    let automation = add_scheduled(&world, Some(at(100))).await;
    world.publish(world.app, Some(world.version), true).await;
    let run = run_of(&world, &automation);
    let passed = due_occurrence(&world, at(100), run);
    assert!(world.store.fire_schedule(&automation, at(100), passed, Some(at(200)), at(100)).await.unwrap());
    assert_eq!(
        outcomes(&world, &automation).await,
        [(at(100), OccurrenceResult::Skipped("not_runnable".to_owned()))]
    );
    assert_eq!(next_run_at(&world, &automation).await, Some(at(200)));
    assert_eq!((world.count("runs").await, world.count("workspace_usage").await), (0, 0));
}

async fn moments_fold_into_one_run_when_the_runs_are_used_up(database: Database) {
    let world = World::new(database).await;
    for overlap in [Overlap::Allow, Overlap::Skip] {
        let policy = SchedulePolicy { overlap, ..SchedulePolicy::default() };
        let schedule = Schedule::parse("0 * * * *", None).unwrap().with_policy(policy).unwrap();
        let automation =
            Automation { next_run_at: Some(at(100)), ..world.automation(Trigger::Schedule(schedule)) };
        world.write(async |tx| tx.insert_automation(&automation).await).await;
        world.execute("UPDATE workspaces SET plan = 'free'", Vec::new()).await;
        world.execute("DELETE FROM workspace_usage", Vec::new()).await;
        let values = vec![world.workspace.uuid().into(), 1_100_i64.into()];
        world.execute("INSERT INTO workspace_usage VALUES ($1, '2026-11', $2)", values).await;

        let mut first = None;
        // The second time two moments passed at once.
        for moments in [vec![at(100)], vec![at(200), at(300)], vec![at(400)]] {
            let now = *moments.last().unwrap();
            let passed: Vec<NewOccurrence> = moments
                .iter()
                .flat_map(|due_at| {
                    let run = NewRun { at: now, scheduled_for: Some(*due_at), ..run_of(&world, &automation) };
                    first.get_or_insert(run.id);
                    due_occurrence(&world, *due_at, run)
                })
                .collect();
            let next = Some(now + chrono::TimeDelta::milliseconds(100));
            let due = next_run_at(&world, &automation).await.unwrap();
            assert!(world.store.fire_schedule(&automation, due, passed, next, now).await.unwrap());
        }
        let held = first.unwrap();
        let superseded = || OccurrenceResult::Skipped("superseded".to_owned());
        let mut outcomes = outcomes(&world, &automation).await;
        outcomes.sort_by_key(|(due_at, _)| *due_at);
        let expected = [
            (at(100), superseded()),
            (at(200), superseded()),
            (at(300), superseded()),
            (at(400), OccurrenceResult::Ran(held)),
        ];
        assert_eq!(outcomes, expected);
        assert_eq!(
            (world.count("run_queue").await, world.count("workspace_usage WHERE runs = 1100").await),
            (1, 1)
        );
        assert_eq!(world.run(held).await.accepted_at, at(400));
        assert_eq!(world.count("runs").await, 1);

        // The run that waits goes first, though there is room again.
        world.execute("DELETE FROM workspace_usage", Vec::new()).await;
        let run = NewRun { at: at(500), scheduled_for: Some(at(500)), ..run_of(&world, &automation) };
        let passed = due_occurrence(&world, at(500), run);
        assert!(world.store.fire_schedule(&automation, at(500), passed, None, at(500)).await.unwrap());
        assert_eq!(world.store.release_held_runs(world.workspace, at(500)).await.unwrap(), 1);
        assert_eq!(ids_of(&world.claim(world.id(), 10, at(500)).await), [held]);
        world.write(async |tx| tx.delete_automation(world.workspace, automation.id, at(600)).await).await;
        world.execute("DELETE FROM run_queue", Vec::new()).await;
        world.execute("DELETE FROM run_inputs", Vec::new()).await;
        world.execute("DELETE FROM runs", Vec::new()).await;
    }
}

async fn a_moment_passes_while_an_earlier_run_is_not_over(database: Database) {
    let world = World::new(database).await;
    let policy = SchedulePolicy { catch_up: CatchUp::All, window_minutes: 7, overlap: Overlap::Skip };
    let schedule = Schedule::parse("0 * * * *", None).unwrap().with_policy(policy).unwrap();
    let automation = Automation { next_run_at: Some(at(1)), ..world.automation(Trigger::Schedule(schedule)) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    let found = world.store.automation(world.workspace, automation.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&automation), "the policy is read as it was written");
    let strike = async |due: i64, moments: &[i64]| {
        let passed = moments
            .iter()
            .flat_map(|moment| due_occurrence(&world, at(*moment), run_of(&world, &automation)));
        let (passed, next) = (passed.collect(), Some(at(due + 10)));
        assert!(world.store.fire_schedule(&automation, at(due), passed, next, at(due)).await.unwrap());
    };
    let skipped = |moment| (at(moment), OccurrenceResult::Skipped("overlap".to_owned()));
    // Of two at once the second overlaps with the first, and so does what comes while that is at work.
    strike(1, &[0, 1]).await;
    let node = world.id();
    let claimed = world.claim(node, 5, at(5)).await;
    assert_eq!(claimed.len(), 1);
    strike(11, &[11]).await;
    let ran = (at(0), OccurrenceResult::Ran(claimed[0].id));
    assert_eq!(outcomes(&world, &automation).await.len(), 3);
    assert!(outcomes(&world, &automation).await.contains(&ran));
    assert!(outcomes(&world, &automation).await.contains(&skipped(1)));
    assert!(outcomes(&world, &automation).await.contains(&skipped(11)));
    assert!(world.finish(node, &claimed[0], AttemptOutcome::Succeeded).await);
    strike(21, &[21]).await;
    assert_eq!(world.claim(node, 5, at(30)).await.len(), 1);
}

async fn every_moment_that_passed_has_a_row(database: Database) {
    let world = World::new(database).await;
    let automation = add_scheduled(&world, Some(at(0))).await;
    let mut moments: Vec<NewOccurrence> = (0..200)
        .map(|moment| NewOccurrence {
            id: world.id(),
            due_at: at(moment),
            plan: OccurrencePlan::Skip(SkipReason::Superseded),
        })
        .collect();
    let run = NewRun { scheduled_for: Some(at(200)), at: at(900), ..run_of(&world, &automation) };
    let id = run.id;
    moments.push(NewOccurrence {
        id: world.id(),
        due_at: at(200),
        plan: OccurrencePlan::Start { run: Box::new(run), is_late: true },
    });
    assert!(world.store.fire_schedule(&automation, at(0), moments, None, at(900)).await.unwrap());
    assert_eq!(world.count("occurrences WHERE outcome = 'skipped' AND reason = 'superseded'").await, 200);
    let ledger = outcomes(&world, &automation).await;
    assert_eq!(ledger[0], (at(200), OccurrenceResult::CaughtUp(id)));
    assert_eq!(ledger.len(), 101, "a page and one more");
    assert_eq!(world.store.occurrences(world.id(), automation.id, PAGE).await.unwrap(), []);
    // What was due in the past can be claimed at once.
    assert_eq!(ids_of(&world.claim(world.id(), 1, at(900)).await), [id]);
}
