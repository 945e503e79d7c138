//! The health of apps: what the ends of runs, dead letters and questions leave, by app.

use ::apps::AppsRead as _;
use chrono::TimeDelta;
use kernel::{
    Timestamp,
    authority::{Sharing, Visibility},
    id::{AppId, NodeId, RunId},
    page::PageRequest,
};
use observability::{
    AppHealth, AppMetrics, HealthRead as _, MetricsLog as _, Resolution,
    health::{AppCount, WorkspaceHealth},
    metrics::MetricsEntry,
};
use runs::{
    RunsTx as _, TriggerKind,
    engine::ApprovalQuestion,
    queue::{AttemptOutcome, FinishedRun, NewRun, RunFault, RunQueue as _},
};

use crate::{
    contract,
    harness::{Database, World, at, finished_run},
};

contract!(
    failures_in_a_row_count_from_the_third_until_a_success,
    a_blocked_run_counts_for_a_day,
    an_observation_is_the_last_success_and_never_an_older_one,
    what_waits_and_runs_is_counted_for_the_apps_that_one_may_view,
    a_deleted_automation_fails_no_more,
);

fn failed() -> AttemptOutcome {
    AttemptOutcome::Failed(RunFault { code: "app_error".to_owned(), message: "No.".to_owned() })
}

fn blocked() -> AttemptOutcome {
    AttemptOutcome::Blocked(RunFault { code: "host_not_declared".to_owned(), message: "No.".to_owned() })
}

/// Runs a manual run to its end at a time.
async fn run_to_end(
    world: &World,
    automation: &runs::Automation,
    node: NodeId,
    outcome: AttemptOutcome,
    ended_at: Timestamp,
) -> RunId {
    let run = world.enqueue(automation, at(1)).await;
    let claimed = world.claim(node, 1, at(2)).await;
    assert_eq!(claimed.first().map(|claimed| claimed.id), Some(run));
    let finished = FinishedRun { at: ended_at, ..finished_run(&claimed[0], outcome) };
    assert!(world.store.finish(node, finished).await.unwrap());
    run
}

async fn health(world: &World, app: AppId, now: Timestamp) -> AppHealth {
    let mut found = world.store.app_health(world.workspace, &[app], now).await.unwrap();
    assert_eq!(found.len(), 1, "each app that is asked for is in the result");
    found.remove(&app).unwrap()
}

async fn overview(world: &World, now: Timestamp) -> WorkspaceHealth {
    world.store.workspace_health(world.workspace, Visibility::All, now).await.unwrap()
}

async fn failures_in_a_row_count_from_the_third_until_a_success(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    assert_eq!(health(&world, world.app, at(9)).await, AppHealth::default());
    for number in 1..=4 {
        run_to_end(&world, &automation, node, failed(), at(number)).await;
        let health = health(&world, world.app, at(9)).await;
        let told = if number < 3 { (0, 0) } else { (number.unsigned_abs(), 1) };
        assert_eq!((health.failures_in_a_row, health.failing_automations), told, "after {number}");
        assert_eq!(health.observed_at, None, "nothing good was seen");
    }
    let noted = overview(&world, at(9)).await.noted;
    assert_eq!((noted.len(), noted[0].app, noted[0].health.is_failing()), (1, world.app, true));
    run_to_end(&world, &automation, node, AttemptOutcome::Succeeded, at(6)).await;
    let well = health(&world, world.app, at(9)).await;
    assert_eq!((well.failures_in_a_row, well.failing_automations), (0, 0));
    assert_eq!(well.observed_at, Some(at(6)));
}

async fn a_blocked_run_counts_for_a_day(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    run_to_end(&world, &automation, node, blocked(), at(5)).await;
    run_to_end(&world, &automation, node, blocked(), at(6)).await;
    let hours = TimeDelta::hours;
    for (now, runs) in [(at(7), 2), (at(7) + hours(23), 2), (at(7) + hours(25), 0)] {
        assert_eq!(health(&world, world.app, now).await.blocked_runs, runs, "at {now}");
    }
    world.store.delete_expired(at(7) + hours(25)).await.unwrap();
    assert_eq!(world.count("app_blocked_runs").await, 0);
}

async fn an_observation_is_the_last_success_and_never_an_older_one(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    let minutes = |count| at(0) + TimeDelta::minutes(count);
    run_to_end(&world, &automation, node, AttemptOutcome::Succeeded, minutes(5)).await;
    assert_eq!(health(&world, world.app, minutes(9)).await.observed_at, Some(minutes(5)));
    // Within a minute it is not written again, and an older one never replaces it.
    run_to_end(&world, &automation, node, AttemptOutcome::Succeeded, minutes(3)).await;
    assert_eq!(health(&world, world.app, minutes(9)).await.observed_at, Some(minutes(5)));
    run_to_end(&world, &automation, node, AttemptOutcome::Succeeded, minutes(7)).await;
    assert_eq!(health(&world, world.app, minutes(9)).await.observed_at, Some(minutes(7)));

    let entry = |minute, has_responded| MetricsEntry {
        workspace: world.workspace,
        app: world.app,
        minute: Resolution::Minute.start_of(minute),
        metrics: AppMetrics::default(),
        has_responded,
    };
    world.store.add_metrics(node, &[entry(minutes(6), true), entry(minutes(20), false)]).await.unwrap();
    assert_eq!(health(&world, world.app, minutes(30)).await.observed_at, Some(minutes(7)));
    world.store.add_metrics(node, &[entry(minutes(12), true)]).await.unwrap();
    assert_eq!(health(&world, world.app, minutes(30)).await.observed_at, Some(minutes(12)));
}

async fn what_waits_and_runs_is_counted_for_the_apps_that_one_may_view(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    world.enqueue(&automation, at(1)).await;
    world.enqueue(&automation, at(1)).await;
    let claimed = world.claim(node, 2, at(2)).await;
    let question = ApprovalQuestion { title: "Pay?".to_owned(), detail: None };
    let wait = AttemptOutcome::Wait { approval: world.id(), number: 0, question };
    assert!(world.finish(node, &claimed[0], wait).await);
    let private: AppId = world.id();
    world.add_app(private, Sharing::Private).await;

    let seen = overview(&world, at(9)).await;
    assert_eq!((seen.noted[0].running, seen.noted[0].health.waiting_approvals), (1, 1));
    let sum = |counts: &[AppCount]| counts.iter().map(|count| count.count).sum::<u64>();
    let drafts = |counts: &[AppCount]| {
        counts.iter().filter(|count| count.is_draft).map(|count| count.count).sum::<u64>()
    };
    assert_eq!((sum(&seen.counts), drafts(&seen.counts)), (2, 1), "{seen:?}");
    let stranger = Visibility::Shared { user: Some(world.id()), sharing_levels: &[] };
    let nothing = world.store.workspace_health(world.workspace, stranger, at(9)).await.unwrap();
    assert_eq!(nothing, WorkspaceHealth::default());
    let elsewhere = world.store.workspace_health(world.id(), Visibility::All, at(9)).await.unwrap();
    assert_eq!(elsewhere, WorkspaceHealth::default());
    let foreign = world.store.app_health(world.id(), &[world.app], at(9)).await.unwrap();
    assert_eq!(foreign[&world.app], AppHealth::default(), "of another workspace nothing is told");
}

async fn a_deleted_automation_fails_no_more(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    for number in 1..=3 {
        run_to_end(&world, &automation, node, failed(), at(number)).await;
    }
    assert_eq!(health(&world, world.app, at(9)).await.failing_automations, 1);
    world.write(async |tx| tx.delete_automation(world.workspace, automation.id, at(9)).await).await;
    let left = health(&world, world.app, at(9)).await;
    assert_eq!((left.failing_automations, left.failures_in_a_row), (0, 3));
}

/// Tables whose rows the health of apps is read from, each with what is other in a copy of its row for `other`, an app.
const TABLES: [(&str, &str); 8] = [
    ("runs", "'id', gen_random_uuid(), 'workspace_id', other.workspace_id, 'app_id', other.id"),
    (
        "approvals",
        "'id', gen_random_uuid(), 'run_id', gen_random_uuid(), 'workspace_id', other.workspace_id, 'app_id', other.id",
    ),
    ("dead_letters", "'id', gen_random_uuid(), 'workspace_id', other.workspace_id, 'app_id', other.id"),
    ("automations", "'id', gen_random_uuid(), 'workspace_id', other.workspace_id, 'app_id', other.id"),
    (
        "automation_failures",
        "'automation_id', gen_random_uuid(), 'workspace_id', other.workspace_id, 'app_id', other.id",
    ),
    ("app_failures", "'workspace_id', other.workspace_id, 'app_id', other.id"),
    ("app_blocked_runs", "'workspace_id', other.workspace_id, 'app_id', other.id"),
    ("app_observations", "'workspace_id', other.workspace_id, 'app_id', other.id"),
];

/// Copies a row of a table for each row of `others`, with other values for some columns.
async fn copy_row(world: &World, table: &str, others: &str, changed: &str) {
    let sql = format!(
        "INSERT INTO {table} SELECT copy.* FROM (SELECT * FROM {table} LIMIT 1) AS original CROSS JOIN {others} CROSS JOIN LATERAL \
         jsonb_populate_record(NULL::{table}, to_jsonb(original) || jsonb_build_object({changed})) AS copy"
    );
    world.execute(&sql, Vec::new()).await;
}

/// Adds apps to the workspace, and 20,000 to a hundred others. Each has a run, a question that waits, a dead letter, failures,
/// blocked runs and an observation.
async fn add_apps_with_facts(world: &World, count: u32) {
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    for end in [AttemptOutcome::Succeeded, blocked(), failed(), failed(), failed()] {
        run_to_end(world, &automation, node, end, at(5)).await;
    }
    let kept = NewRun { trigger: TriggerKind::Webhook, ..world.manual_run(&automation) };
    world.write(async |tx| tx.enqueue(&kept).await).await;
    let claimed = world.claim(node, 1, at(2)).await.remove(0);
    assert!(world.finish(node, &claimed, failed()).await);
    world.enqueue(&automation, at(1)).await;
    world.enqueue(&automation, at(1)).await;
    let claimed = world.claim(node, 2, at(2)).await;
    let question = ApprovalQuestion { title: "Pay?".to_owned(), detail: None };
    let wait = AttemptOutcome::Wait { approval: world.id(), number: 0, question };
    assert!(world.finish(node, &claimed[0], wait).await);

    let slug = "'slug', 'other-' || number";
    copy_row(
        world,
        "workspaces",
        "generate_series(1, 100) AS number",
        &format!("'id', gen_random_uuid(), {slug}"),
    )
    .await;
    let own = format!("generate_series(1, {count}) AS number");
    copy_row(world, "apps", &own, "'id', gen_random_uuid(), 'slug', 'own-' || number").await;
    let others = "(SELECT id AS workspace, slug || '-' || number AS slug FROM workspaces CROSS JOIN generate_series(1, 200) AS number \
                  WHERE slug LIKE 'other-%') AS other";
    copy_row(
        world,
        "apps",
        others,
        "'id', gen_random_uuid(), 'workspace_id', other.workspace, 'slug', other.slug",
    )
    .await;
    for (table, changed) in TABLES {
        copy_row(
            world,
            table,
            "(SELECT id, workspace_id FROM apps WHERE slug LIKE 'o%-%') AS other",
            changed,
        )
        .await;
    }
    world.execute("ANALYZE", Vec::new()).await;
}

/// PostgreSQL's own count of the rows that its plans read; SQLite's plans are compared in the unit tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_reads_the_rows_of_one_workspace() {
    for count in [20, 20_000] {
        let world = World::new(Database::postgres().await).await;
        add_apps_with_facts(&world, count).await;
        world.end_connections("qala%").await;
        world.execute("SELECT pg_stat_reset()", Vec::new()).await;

        let store = world.database.open().await;
        let seen = store.workspace_health(world.workspace, Visibility::All, at(9)).await.unwrap();
        assert_eq!(seen.noted.len(), count as usize + 1);
        let page = PageRequest::first(200);
        let apps = store.apps(world.workspace, world.user, Visibility::All, page).await.unwrap();
        let ids: Vec<AppId> = apps.iter().map(|(app, _)| app.id).collect();
        store.apps_by_id(world.workspace, &ids).await.unwrap();
        store.app_health(world.workspace, &ids, at(9)).await.unwrap();
        world.end_connections("qala%").await;

        for table in TABLES.map(|(table, _)| table).into_iter().chain(["apps"]) {
            let sql = "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = $1";
            let read: i64 = world.query_scalar(sql, vec![table.into()]).await;
            // Few apps are found by an index. Where they are half of a table, two reads of the whole table are as good; beside
            // them there are reads of a page of 200.
            let most = 5 * i64::from(count) + 500;
            assert!(
                read <= most,
                "{read} rows of {table} are read for {count} apps, of which {most} are expected at most"
            );
        }
    }
}
