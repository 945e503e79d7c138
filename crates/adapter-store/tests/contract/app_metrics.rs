//! Metrics of apps: rows of several processes, resolutions, and their deletion.

use std::time::Duration;

use ::observability::{
    AppMetrics, Measurement, MetricsLog as _, MetricsRead as _, Resolution,
    metrics::{
        AttemptEnding, MAX_ENTRIES, MetricsEntry, MetricsInterval, MetricsQuery, RequestEnding, Workload,
    },
};
use kernel::{
    Timestamp,
    id::{AppId, NodeId, WorkspaceId},
    testing::id,
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    writes_of_a_process_add_up_in_its_own_row,
    rows_of_processes_are_merged_when_they_are_read,
    every_resolution_has_the_sum_of_the_finer_ones,
    many_entries_are_written_at_once,
    metrics_are_read_within_a_workspace_and_a_range,
    the_largest_numbers_are_kept,
    metrics_are_deleted_by_resolution,
);

const MINUTE: i64 = 60_000;

/// Metrics of a request of so many milliseconds, one that failed, and a run with its processor time.
fn sample(millis: u64) -> AppMetrics {
    let duration = Duration::from_millis(millis);
    let mut metrics = AppMetrics::default();
    for measurement in [
        Measurement::Request { ending: RequestEnding::Responded, duration },
        Measurement::Request { ending: RequestEnding::Failed, duration: duration * 2 },
        Measurement::Attempt { ending: AttemptEnding::Retried, duration: Some(duration * 3) },
        Measurement::Attempt { ending: AttemptEnding::Failed, duration: None },
        Measurement::CpuTime { workload: Workload::Request, used: duration },
        Measurement::CpuTime { workload: Workload::Run, used: duration * 5 },
    ] {
        metrics.add(measurement);
    }
    metrics
}

fn merged<'a>(all: impl IntoIterator<Item = &'a AppMetrics>) -> AppMetrics {
    let mut sum = AppMetrics::default();
    for metrics in all {
        sum.merge(metrics);
    }
    sum
}

/// The contract's times begin at noon, so every resolution has an interval that begins there.
fn entry(world: &World, minute: i64, metrics: &AppMetrics) -> MetricsEntry {
    let (workspace, app) = (world.workspace, world.app);
    MetricsEntry {
        workspace,
        app,
        minute: at(minute * MINUTE),
        metrics: metrics.clone(),
        has_responded: false,
    }
}

async fn read(world: &World, resolution: Resolution) -> Vec<MetricsInterval> {
    read_of(world, (world.workspace, world.app), resolution, at(0)).await
}

async fn read_of(
    world: &World,
    (workspace, app): (WorkspaceId, AppId),
    resolution: Resolution,
    from: Timestamp,
) -> Vec<MetricsInterval> {
    let query = MetricsQuery::new(resolution, from, MetricsQuery::MAX_INTERVALS);
    world.store.app_metrics(workspace, app, query).await.unwrap()
}

async fn writes_of_a_process_add_up_in_its_own_row(database: Database) {
    let world = World::new(database).await;
    let node: NodeId = id(1);
    let parts = [sample(3), sample(700), sample(3)];
    for part in &parts {
        world.store.add_metrics(node, &[entry(&world, 0, part)]).await.unwrap();
    }
    world.store.add_metrics(node, &[]).await.unwrap();
    let expected = [MetricsInterval { at: at(0), metrics: merged(&parts) }];
    for resolution in Resolution::ALL {
        assert_eq!(read(&world, resolution).await, expected);
    }
    assert_eq!(world.count("app_metrics").await, 3);
}

async fn rows_of_processes_are_merged_when_they_are_read(database: Database) {
    let world = World::new(database).await;
    let (here, there) = (sample(20), sample(90));
    // Another process, and this one after a restart.
    let other = world.database.open().await;
    let (first, second) =
        tokio::join!(async { world.store.add_metrics(id(1), &[entry(&world, 0, &here)]).await }, async {
            other.add_metrics(id(2), &[entry(&world, 0, &there), entry(&world, 4, &there)]).await
        },);
    first.and(second).unwrap();
    world.store.add_metrics(id(3), &[entry(&world, 0, &here)]).await.unwrap();
    let minutes = read(&world, Resolution::Minute).await;
    let expected = [(0, merged([&here, &there, &here])), (4, there.clone())];
    assert_eq!(
        minutes,
        expected.map(|(minute, metrics)| MetricsInterval { at: at(minute * MINUTE), metrics })
    );
    let hours = read(&world, Resolution::Hour).await;
    assert_eq!((hours.len(), &hours[0].metrics), (1, &merged([&here, &there, &there, &here])));
    assert_eq!(world.count("app_metrics WHERE resolution = 60").await, 3, "each process has its row");
}

async fn every_resolution_has_the_sum_of_the_finer_ones(database: Database) {
    let world = World::new(database).await;
    let minutes = [0, 1, 14, 15, 29, 44, 59, 60, 61, 75, 119, 120];
    for (number, minute) in (0_u128..).zip(minutes) {
        let part = sample(1 + number as u64 * 37);
        world.store.add_metrics(id(number % 3), &[entry(&world, minute, &part)]).await.unwrap();
    }
    let finest = read(&world, Resolution::Minute).await;
    assert_eq!(finest.iter().map(|it| it.at).collect::<Vec<_>>(), minutes.map(|minute| at(minute * MINUTE)));
    for resolution in [Resolution::QuarterHour, Resolution::Hour] {
        let intervals = read(&world, resolution).await;
        for interval in &intervals {
            let within = |it: &&MetricsInterval| resolution.start_of(it.at) == interval.at;
            let sum = merged(finest.iter().filter(within).map(|it| &it.metrics));
            assert_eq!(interval.metrics, sum, "{resolution:?} {}", interval.at);
        }
        let starts: std::collections::BTreeSet<_> =
            finest.iter().map(|it| resolution.start_of(it.at)).collect();
        assert_eq!(intervals.iter().map(|it| it.at).collect::<Vec<_>>(), Vec::from_iter(starts));
    }
}

async fn many_entries_are_written_at_once(database: Database) {
    let world = World::new(database).await;
    // As after an outage of the database: many minutes of one app, and other apps.
    let mut entries: Vec<_> =
        (0..40).map(|minute| entry(&world, minute * 7, &sample(minute as u64 + 1))).collect();
    let others = (0..).map(|app| MetricsEntry { app: id(1_000 + app), ..entry(&world, 3, &sample(5)) });
    entries.extend(others.take(MAX_ENTRIES - entries.len()));
    for _ in 0..2 {
        world.store.add_metrics(id(1), &entries).await.unwrap();
    }
    for entry in &entries {
        let found = read_of(&world, (world.workspace, entry.app), Resolution::Minute, entry.minute).await;
        assert_eq!(found[0], MetricsInterval { at: entry.minute, metrics: merged([&entry.metrics; 2]) });
    }
    let hours = read(&world, Resolution::Hour).await;
    assert_eq!((hours.len(), hours.iter().map(|it| it.metrics.requests).sum::<u64>()), (5, 160));
}

async fn metrics_are_read_within_a_workspace_and_a_range(database: Database) {
    let world = World::new(database).await;
    for minute in [0, 1, 2, 3] {
        world.store.add_metrics(id(1), &[entry(&world, minute, &sample(1))]).await.unwrap();
    }
    let query = MetricsQuery::new(Resolution::Minute, at(MINUTE + 30_000), 2);
    let found = world.store.app_metrics(world.workspace, world.app, query).await.unwrap();
    assert_eq!(found.iter().map(|it| it.at).collect::<Vec<_>>(), [at(MINUTE), at(2 * MINUTE)]);
    let whole = async |scope| read_of(&world, scope, Resolution::Minute, at(0)).await.len();
    assert_eq!(whole((world.workspace, world.app)).await, 4);
    assert_eq!(whole((id(8), world.app)).await, 0, "of another workspace");
    assert_eq!(whole((world.workspace, id(8))).await, 0, "another app");
}

async fn the_largest_numbers_are_kept(database: Database) {
    let world = World::new(database).await;
    let used = Duration::MAX;
    let mut metrics = AppMetrics::default();
    metrics.add(Measurement::CpuTime { workload: Workload::Run, used });
    metrics.add(Measurement::Request { ending: RequestEnding::Responded, duration: Duration::MAX });
    for _ in 0..2 {
        world.store.add_metrics(id(1), &[entry(&world, 0, &metrics)]).await.unwrap();
    }
    let found = read(&world, Resolution::Hour).await;
    assert_eq!(found[0].metrics.run_cpu_micros, i64::MAX as u64);
    assert_eq!(found[0].metrics.request_durations.count(), 2);
}

async fn metrics_are_deleted_by_resolution(database: Database) {
    let world = World::new(database).await;
    let count = async |minutes: i16| world.count(&format!("app_metrics WHERE resolution = {minutes}")).await;
    world.store.add_metrics(id(1), &[entry(&world, 0, &sample(1))]).await.unwrap();
    let day = 24 * 60 * MINUTE;
    for (days, left) in [(3, [1, 1, 1]), (16, [0, 1, 1]), (400, [0, 0, 1])] {
        world.store.delete_expired(at(days * day)).await.unwrap();
        assert_eq!([count(1).await, count(15).await, count(60).await], left, "{days} days later");
        world.store.delete_expired(at(days * day + 1)).await.unwrap();
    }
    assert_eq!(world.count("app_metrics").await, 0);
    // More than one statement deletes.
    let entries: Vec<_> =
        (0..).map(|app| MetricsEntry { app: id(app), ..entry(&world, 0, &sample(1)) }).take(600).collect();
    for entries in entries.chunks(MAX_ENTRIES) {
        world.store.add_metrics(id(1), entries).await.unwrap();
    }
    world.store.delete_expired(at(day * 500)).await.unwrap();
    assert_eq!(world.count("app_metrics").await, 0);
}
