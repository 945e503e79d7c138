//! The queue, as those who work it off see it.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use kernel::{
    authority::Visibility,
    id::{NodeId, RunId},
    page::PageRequest,
};
use observability::{LogLevel, LogQuery, LogRead as _, LogSource};
use runs::{
    Automation, RunStatus, RunsRead as _, RunsTx as _, Trigger, TriggerKind,
    automations::schedule::Schedule,
    engine,
    queue::{AttemptOutcome, ClaimLimit, FinishedRun, LEASE, NewRun, RunFault, RunLogLine, RunQueue as _},
    runs::{QueueHealth, RunBar, RunFilter, RunHistogram, RunSpan, RunState, Step, StepStatus},
};
use uuid::Builder;

use crate::{
    contract,
    harness::{Database, PAGE, World, at, finished_run, ids_of, json},
};

contract!(
    the_longest_due_is_claimed_first,
    a_claimed_run_says_what_is_to_be_done,
    two_claimers_never_get_the_same_run,
    a_lease_that_ended_is_given_to_another,
    a_lease_is_extended_by_its_holder_only,
    a_holder_whose_lease_was_taken_writes_nothing,
    a_run_is_finished_once,
    a_retry_waits_for_its_time,
    an_end_writes_status_steps_error_log_and_minutes,
    a_released_run_was_not_tried,
    runs_are_listed_by_what_is_asked_for,
    runs_are_listed_and_counted_by_time,
    health_is_counted,
    work_put_in_rings,
);

fn fault(code: &str) -> RunFault {
    RunFault { code: code.to_owned(), message: "It broke.\0".to_owned() }
}

pub(crate) async fn add_manual_automation(world: &World) -> Automation {
    let automation = world.automation(Trigger::Manual);
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    automation
}

async fn the_longest_due_is_claimed_first(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let mut runs = Vec::new();
    for start in [30, 10, 20, 10, 99] {
        runs.push(world.enqueue(&automation, at(start)).await);
    }
    let node = world.id();
    assert_eq!(ids_of(&world.claim(node, 10, at(9)).await), []);
    assert_eq!(ids_of(&world.claim(node, 2, at(50)).await), [runs[1], runs[3]]);
    assert_eq!(ids_of(&world.claim(node, 10, at(50)).await), [runs[2], runs[0]]);
    assert_eq!(ids_of(&world.claim(node, 10, at(50)).await), []);
    assert_eq!(ids_of(&world.claim(node, 10, at(99)).await), [runs[4]]);
}

async fn a_claimed_run_says_what_is_to_be_done(database: Database) {
    let world = World::new(database).await;
    let schedule = Trigger::Schedule(Schedule::parse("0 9 * * *", None).unwrap());
    let automation = Automation { retries: 4, ..world.automation(schedule) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    let run = NewRun {
        trigger: TriggerKind::Schedule,
        input: json(r#"{"a":[1,2]}"#),
        at: at(10),
        ..world.manual_run(&automation)
    };
    world.write(async |tx| tx.enqueue(&run).await).await;
    let claimed = world.claim(world.id(), 1, at(500)).await.pop().unwrap();
    assert_eq!((claimed.id, claimed.workspace, claimed.app), (run.id, world.workspace, world.app));
    assert_eq!((claimed.automation, claimed.version), (Some(automation.id), Some(world.version)));
    assert_eq!((claimed.trigger, claimed.input.get()), (TriggerKind::Schedule, r#"{"a":[1,2]}"#));
    assert_eq!((claimed.scheduled_for, claimed.started_at), (at(10), at(500)));
    assert_eq!((claimed.attempt, claimed.retries, claimed.cron.as_deref()), (1, 4, Some("0 9 * * *")));

    let run = world.run(run.id).await;
    assert_eq!(run.state, RunState::Running { started_at: at(500) });
    assert_eq!(run.attempt, 1);
    let version = run.version.unwrap();
    assert_eq!((version.id, version.number, version.is_current), (world.version, Some(1), true));

    // A run without an automation, of an app that has no version any more.
    world.publish(world.app, None, false).await;
    let run = NewRun { automation: None, max_concurrency: Some(1), ..world.manual_run(&automation) };
    world.write(async |tx| tx.enqueue(&run).await).await;
    let claimed = world.claim(world.id(), 1, at(600)).await.pop().unwrap();
    assert_eq!((claimed.id, claimed.automation, claimed.version), (run.id, None, None));
    assert_eq!((claimed.retries, claimed.cron), (0, None));

    // The code of a deleted app runs no more.
    world.publish(world.app, Some(world.version), false).await;
    let run = NewRun { automation: None, ..world.manual_run(&automation) };
    world.write(async |tx| tx.enqueue(&run).await).await;
    world.write(async |tx| ::apps::AppsTx::delete_app(tx, world.workspace, world.app, at(650)).await).await;
    let claimed = world.claim(world.id(), 1, at(700)).await.pop().unwrap();
    assert_eq!((claimed.id, claimed.version), (run.id, None));
}

/// An automation in a workspace of its own.
pub(crate) async fn add_automation_in_new_workspace(world: &World, slug: &str) -> Automation {
    let workspace = world.id();
    world.add_workspace(workspace, slug).await;
    let automation = Automation { workspace, ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    automation
}

async fn two_claimers_never_get_the_same_run(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let runs: Vec<NewRun> = (0..60).map(|_| world.manual_run(&automation)).collect();
    world
        .write(async |tx| {
            for run in &runs {
                tx.enqueue(run).await?;
            }
            Ok(())
        })
        .await;
    // A second store on the same database stands for another node.
    let elsewhere = world.database.open().await;
    let claim_all = async |store: &adapter_store::Store, node: NodeId| {
        let mut claimed = Vec::new();
        // Under contention a claim may come back with less than there is.
        while claimed.len() < 60 {
            let more = store.claim(node, ClaimLimit::with_total(7), Arc::new(at(0))).await.unwrap();
            assert!(more.len() <= 7, "claimed {} of 7", more.len());
            if more.is_empty()
                && store.claim(node, ClaimLimit::with_total(1), Arc::new(at(0))).await.unwrap().is_empty()
            {
                break;
            }
            claimed.extend(ids_of(&more));
        }
        claimed
    };
    let (here, there) = tokio::join!(claim_all(&world.store, world.id()), claim_all(&elsewhere, world.id()));
    let distinct: BTreeSet<RunId> = here.iter().chain(&there).copied().collect();
    assert_eq!(here.len() + there.len(), distinct.len(), "a run was claimed twice");
    assert_eq!(distinct, runs.iter().map(|run| run.id).collect());
    assert_eq!(world.count("run_queue WHERE state = 1 AND attempt = 1").await, 60);
}

async fn a_lease_that_ended_is_given_to_another(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let run = world.enqueue(&automation, at(0)).await;
    let (lost, next) = (world.id(), world.id());
    world.claim(lost, 1, at(0)).await;
    let end = at(0) + LEASE;
    assert_eq!(
        world.store.release_expired_leases(end - chrono::TimeDelta::milliseconds(1)).await.unwrap(),
        0
    );
    assert_eq!(ids_of(&world.claim(next, 1, end).await), []);
    assert_eq!(world.store.release_expired_leases(end).await.unwrap(), 1);
    assert_eq!(world.store.release_expired_leases(end).await.unwrap(), 0);
    assert_eq!(world.run(run).await.state, RunState::Queued { fault: None });
    let claimed = world.claim(next, 1, end).await.pop().unwrap();
    assert_eq!((claimed.id, claimed.attempt, claimed.started_at), (run, 2, at(0)));
    assert_eq!(world.run(run).await.attempt, 2);
}

async fn a_lease_is_extended_by_its_holder_only(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let runs = [world.enqueue(&automation, at(0)).await, world.enqueue(&automation, at(0)).await];
    let (holder, other) = (world.id(), world.id());
    world.claim(holder, 1, at(0)).await;
    world.claim(other, 1, at(0)).await;
    let later = at(20_000);
    assert_eq!(world.store.extend_leases(holder, &runs, later).await.unwrap(), [runs[0]]);
    assert_eq!(world.store.extend_leases(holder, &[], later).await.unwrap(), []);
    assert_eq!(world.store.extend_leases(world.id(), &runs, later).await.unwrap(), []);
    assert_eq!(world.store.release_expired_leases(at(0) + LEASE).await.unwrap(), 1);
    assert_eq!(world.run(runs[0]).await.state.status(), RunStatus::Running);
    assert_eq!(world.run(runs[1]).await.state.status(), RunStatus::Queued);
    assert_eq!(world.store.release_expired_leases(later + LEASE).await.unwrap(), 1);
}

async fn a_holder_whose_lease_was_taken_writes_nothing(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let run = world.enqueue(&automation, at(0)).await;
    let (lost, next) = (world.id(), world.id());
    let first = world.claim(lost, 1, at(0)).await.pop().unwrap();
    world.store.release_expired_leases(at(0) + LEASE).await.unwrap();
    // Nobody holds it now.
    let line = || RunLogLine {
        at: at(1),
        level: engine::LogLevel::Info,
        is_from_gate: false,
        message: "x".to_owned(),
    };
    let late = || FinishedRun { lines: vec![line()], ..finished_run(&first, AttemptOutcome::Succeeded) };
    assert!(!world.store.finish(lost, late()).await.unwrap());
    let second = world.claim(next, 1, at(0) + LEASE).await.pop().unwrap();
    assert!(!world.store.finish(lost, late()).await.unwrap());
    // Neither the new holder with the old attempt, nor the old one with the new attempt.
    assert!(!world.store.finish(next, late()).await.unwrap());
    assert!(!world.finish(lost, &second, AttemptOutcome::Succeeded).await);
    assert_eq!(world.run(run).await.state.status(), RunStatus::Running);
    assert_eq!((world.count("log_lines").await, world.count("run_queue").await), (0, 1));
    assert!(world.finish(next, &second, AttemptOutcome::Succeeded).await);
    assert_eq!(world.run(run).await.state.status(), RunStatus::Succeeded);
}

async fn a_run_is_finished_once(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    world.enqueue(&automation, at(0)).await;
    let node = world.id();
    let claimed = world.claim(node, 1, at(0)).await.pop().unwrap();
    let line = || RunLogLine {
        at: at(1),
        level: engine::LogLevel::Info,
        is_from_gate: false,
        message: "x".to_owned(),
    };
    let finish = || {
        let finished =
            FinishedRun { lines: vec![line()], ..finished_run(&claimed, AttemptOutcome::Succeeded) };
        world.store.finish(node, finished)
    };
    let at_once = world.in_one_batch(futures::future::join_all((0..8).map(|_| finish()))).await;
    let held = at_once.into_iter().filter(|held| *held.as_ref().unwrap()).count();
    assert_eq!(held, 1);
    assert!(!finish().await.unwrap());
    assert_eq!(world.count("log_lines").await, 1);
}

async fn a_retry_waits_for_its_time(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let run = world.enqueue(&automation, at(0)).await;
    let node = world.id();
    let claimed = world.claim(node, 1, at(100)).await.pop().unwrap();
    let retry = AttemptOutcome::Retry { at: at(5_000), fault: fault("app_error") };
    assert!(world.finish(node, &claimed, retry).await);
    let found = world.run(run).await;
    let RunState::Queued { fault: Some(fault) } = &found.state else { panic!("{:?}", found.state) };
    assert_eq!((fault.code.as_str(), found.attempt), ("app_error", 1));
    assert_eq!(ids_of(&world.claim(node, 1, at(4_999)).await), []);
    let again = world.claim(node, 1, at(5_000)).await.pop().unwrap();
    assert_eq!((again.id, again.attempt, again.started_at), (run, 2, at(100)));
    assert_eq!(again.version, claimed.version);
    assert!(world.finish(node, &again, AttemptOutcome::Succeeded).await);
    let found = world.run(run).await;
    assert_eq!(found.state, RunState::Succeeded(RunSpan { started_at: at(100), finished_at: at(1_100) }));
}

async fn an_end_writes_status_steps_error_log_and_minutes(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(world.enqueue(&automation, at(0)).await);
    }
    let node = world.id();
    let step = |label: &str| Step {
        label: label.to_owned(),
        status: StepStatus::Ok,
        started_at: Some(at(1)),
        duration_ms: Some(12),
        detail: Some("қала\0".to_owned()),
    };
    let conclusions = [
        AttemptOutcome::Succeeded,
        AttemptOutcome::Failed(fault("timeout")),
        AttemptOutcome::Blocked(fault("egress_denied")),
    ];
    let finishes = world.claim(node, 3, at(0)).await.into_iter().zip(conclusions).map(|(run, conclusion)| {
        let line = |level, by_gate| RunLogLine {
            at: at(2),
            level,
            is_from_gate: by_gate,
            message: run.id.to_string(),
        };
        let finished = FinishedRun {
            minutes_saved: 2.5,
            steps: vec![step("one"), step("two")],
            lines: vec![line(engine::LogLevel::Debug, false), line(engine::LogLevel::Error, true)],
            ..finished_run(&run, conclusion)
        };
        world.store.finish(node, finished)
    });
    for held in futures::future::join_all(finishes).await {
        assert!(held.unwrap());
    }
    let span = RunSpan { started_at: at(0), finished_at: at(1_000) };
    let kept = |code: &str| RunFault { code: code.to_owned(), message: "It broke.\u{fffd}".to_owned() };
    let states = [
        RunState::Succeeded(span),
        RunState::Failed(span, kept("timeout")),
        RunState::Blocked(span, kept("egress_denied")),
    ];
    for (id, state) in runs.into_iter().zip(states) {
        let run = world.run(id).await;
        assert_eq!((run.state, run.minutes_saved, run.attempt), (state, 2.5, 1));
        assert_eq!(run.steps, [step("one"), step("two")]);
        let query = LogQuery::for_run(id, None, 10);
        let lines = world.store.log_lines(world.workspace, world.app, &query).await.unwrap();
        let said: Vec<_> = lines.iter().map(|line| (line.content.level, line.content.source)).collect();
        assert_eq!(said, [(LogLevel::Error, LogSource::Gate), (LogLevel::Debug, LogSource::App)]);
        assert!(lines.iter().all(|line| line.content.message == id.to_string() && line.run == Some(id)));
    }
    assert_eq!(world.count("run_queue").await, 0);
}

async fn a_released_run_was_not_tried(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let runs = [world.enqueue(&automation, at(0)).await, world.enqueue(&automation, at(0)).await];
    let (node, other) = (world.id(), world.id());
    world.claim(node, 1, at(0)).await;
    world.claim(other, 1, at(0)).await;
    world.store.release(node, &runs).await.unwrap();
    world.store.release(node, &[]).await.unwrap();
    assert_eq!(world.run(runs[0]).await.state, RunState::Queued { fault: None });
    assert_eq!(world.run(runs[1]).await.state.status(), RunStatus::Running);
    let again = world.claim(other, 5, at(10)).await.pop().unwrap();
    assert_eq!((again.id, again.attempt), (runs[0], 1));
    assert_eq!(world.run(runs[0]).await.attempt, 1);
}

async fn runs_are_listed_by_what_is_asked_for(database: Database) {
    let world = World::new(database).await;
    let (one, two) = (add_manual_automation(&world).await, add_manual_automation(&world).await);
    let mut runs = Vec::new();
    for automation in [&one, &two, &one] {
        runs.insert(0, world.enqueue(automation, at(0)).await);
    }
    let node = world.id();
    let first = world.claim(node, 1, at(0)).await.pop().unwrap();
    let steps = vec![Step {
        label: "x".to_owned(),
        status: StepStatus::Ok,
        started_at: None,
        duration_ms: None,
        detail: None,
    }];
    let finished = FinishedRun { steps, ..finished_run(&first, AttemptOutcome::Succeeded) };
    assert!(world.store.finish(node, finished).await.unwrap());

    let list = async |filter, page: PageRequest| -> Vec<RunId> {
        let found = world.store.runs(world.workspace, Visibility::All, filter, page).await.unwrap();
        assert!(found.iter().all(|run| run.steps.is_empty() && run.app_name == "Invoices"));
        found.into_iter().map(|run| run.id).collect()
    };
    let all = RunFilter::default();
    assert_eq!(list(all, PAGE).await, runs);
    assert_eq!(list(RunFilter { automation: Some(one.id), ..all }, PAGE).await, [runs[0], runs[2]]);
    assert_eq!(list(RunFilter { status: Some(RunStatus::Queued), ..all }, PAGE).await, runs[..2]);
    assert_eq!(list(RunFilter { status: Some(RunStatus::Succeeded), ..all }, PAGE).await, runs[2..]);
    assert_eq!(list(RunFilter { trigger: Some(TriggerKind::Webhook), ..all }, PAGE).await, []);
    assert_eq!(list(RunFilter { app: Some(world.app), ..all }, PAGE).await, runs);
    assert_eq!(list(RunFilter { app: Some(world.id()), ..all }, PAGE).await, []);
    assert_eq!(list(RunFilter { by_agent: Some(true), ..all }, PAGE).await, []);
    assert_eq!(list(RunFilter { by_agent: Some(false), ..all }, PAGE).await, runs);
    assert_eq!(list(RunFilter { replayed: Some(true), ..all }, PAGE).await, []);
    assert_eq!(list(RunFilter { replayed: Some(false), ..all }, PAGE).await, runs);
    let page = PageRequest { limit: 1, after: Some(runs[0].uuid()) };
    assert_eq!(list(all, page).await, runs[1..]);

    let again = NewRun { replay_of: Some(runs[2]), ..world.manual_run(&one) };
    world.write(async |tx| tx.enqueue(&again).await).await;
    assert_eq!(list(RunFilter { replayed: Some(true), ..all }, PAGE).await, runs[2..]);
    assert_eq!(list(RunFilter { replayed: Some(false), ..all }, PAGE).await, [again.id, runs[0], runs[1]]);
}

async fn runs_are_listed_and_counted_by_time(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let mut runs = Vec::new();
    for (number, minute) in (0_u8..).zip([0, 1, 1, 5]) {
        let accepted_at = at(minute * 60_000);
        let millis = u64::try_from(accepted_at.timestamp_millis()).unwrap();
        let id = Builder::from_unix_timestamp_millis(millis, &[number; 10]).into_uuid();
        let run = NewRun { id: RunId::from_uuid(id), at: accepted_at, ..world.manual_run(&automation) };
        world.write(async |tx| tx.enqueue(&run).await).await;
        runs.push(run.id);
    }
    let node = world.id();
    let first = world.claim(node, 1, at(600_000)).await.pop().unwrap();
    assert!(world.store.finish(node, finished_run(&first, AttemptOutcome::Succeeded)).await.unwrap());

    let list = async |from, to| -> Vec<RunId> {
        let filter = RunFilter { from, to, ..RunFilter::default() };
        let found = world.store.runs(world.workspace, Visibility::All, filter, PAGE).await.unwrap();
        found.into_iter().map(|run| run.id).rev().collect()
    };
    assert_eq!(list(None, None).await, runs);
    assert_eq!(list(Some(at(60_000)), None).await, runs[1..]);
    assert_eq!(list(None, Some(at(60_000))).await, runs[..1], "`to` is not included");
    assert_eq!(list(Some(at(60_001)), Some(at(300_000))).await, []);

    let count = async |limit| {
        let filter = RunFilter { from: Some(at(0)), to: Some(at(600_000)), ..RunFilter::default() };
        let (workspace, bar) = (world.workspace, Duration::from_secs(60));
        world.store.run_histogram(workspace, Visibility::All, filter, bar, limit).await.unwrap()
    };
    let minute = at(0).timestamp() / 60;
    let bar = |minutes, succeeded, unfinished| RunBar {
        index: minute + minutes,
        succeeded,
        unfinished,
        ..RunBar::default()
    };
    let all = [bar(0, 1, 0), bar(1, 0, 2), bar(5, 0, 1)];
    assert_eq!(count(10).await, RunHistogram { complete_from: at(0), bars: all.to_vec() });
    let newest = RunHistogram { complete_from: at(60_000), bars: all[1..].to_vec() };
    assert_eq!(count(3).await, newest, "what was not counted is not said to be empty");
    let nobody = Visibility::Shared { user: None, sharing_levels: &[] };
    let (filter, bar) = (RunFilter::default(), Duration::from_secs(60));
    let hidden = world.store.run_histogram(world.workspace, nobody, filter, bar, 10).await.unwrap();
    assert_eq!(hidden.bars, []);
}

async fn health_is_counted(database: Database) {
    let world = World::new(database).await;
    let automation = Automation { max_concurrency: Some(4), ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    let health = async |now| world.store.queue_health(world.workspace, now).await.unwrap();
    let idle = QueueHealth {
        queued: 0,
        delayed: 0,
        running: 0,
        waiting_approval: 0,
        oldest_queued_at: None,
        succeeded: 0,
        failed: 0,
        blocked: 0,
    };
    assert_eq!(health(at(0)).await, idle);
    let mut runs = Vec::new();
    for _ in 0..7 {
        runs.push(world.enqueue(&automation, at(0)).await);
    }
    let node = world.id();
    let claimed = world.claim(node, 4, at(0)).await;
    let conclusions =
        [AttemptOutcome::Succeeded, AttemptOutcome::Failed(fault("x")), AttemptOutcome::Blocked(fault("y"))];
    for (run, conclusion) in claimed.iter().zip(conclusions) {
        assert!(world.finish(node, run, conclusion).await);
    }
    // One that is put off is not what waits the longest, and none before its time.
    let other = add_manual_automation(&world).await;
    world.enqueue(&other, at(9_000_000)).await;
    let busy = QueueHealth {
        queued: 3,
        delayed: 1,
        running: 1,
        waiting_approval: 0,
        oldest_queued_at: Some(at(0)),
        succeeded: 1,
        failed: 1,
        blocked: 1,
    };
    assert_eq!(health(at(2_000)).await, busy);
    // An hour later nothing has ended lately.
    let later = QueueHealth { succeeded: 0, failed: 0, blocked: 0, ..busy };
    assert_eq!(health(at(3_602_000)).await, later);
    assert_eq!(health(at(9_000_000)).await, QueueHealth { queued: 4, delayed: 0, ..later });
    assert_eq!(world.store.queue_health(world.id(), at(0)).await.unwrap(), idle);
}

async fn work_put_in_rings(database: Database) {
    let world = World::new(database).await;
    let automation = add_manual_automation(&world).await;
    let long = Duration::from_secs(30);
    let waiting = async {
        let since = std::time::Instant::now();
        world.store.wait_for_work(long).await;
        since.elapsed()
    };
    let (waited, _) = tokio::join!(waiting, world.enqueue(&automation, at(0)));
    assert!(waited < Duration::from_secs(10), "{waited:?}");
}
