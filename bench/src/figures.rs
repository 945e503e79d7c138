//! Measurement of the standard figures.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use ::tests::{Server, eventually, eventually_within};
use anyhow::{Context as _, Result, ensure};
use tokio::time::sleep;
use xtask::shell::Progress;

use super::{
    Figure, Options, TableRow, api,
    baselines::{self, NullServer},
    bulk_tokens, in_process,
    load::{self, LoadResult, RequestFactory},
    processes::resident_bytes,
};

/// Long enough for the work after a start to settle.
const IDLE_WAIT: Duration = Duration::from_secs(2);

/// Number of starts that are timed.
const START_COUNT: usize = 10;

/// Limit for the queue to drain after the last delivery.
const DRAIN_DEADLINE: Duration = Duration::from_secs(300);

/// Duration of the measurement of a baseline without a server.
const BASELINE_DURATION: Duration = Duration::from_secs(2);

/// Measures the selected figures, in an order in which none disturbs the next.
pub(super) async fn measure(
    server: &mut Server,
    options: &Options,
    progress: &Progress,
) -> Result<Vec<TableRow>> {
    let mut rows = Vec::new();
    if options.is_selected(Figure::IdleMemory) {
        progress.report("idle memory");
        eventually("the server is ready", async || api::check_ready(server).await).await?;
        sleep(IDLE_WAIT).await;
        let bytes = resident_bytes(server.process_id().context("the server is not running")?)?;
        rows.push(TableRow::without_baseline("idle memory", format!("{:.1} MB", bytes as f64 / 1e6)));
    }

    if options.is_selected(Figure::TokenCheckInProcess) {
        progress.report("token check in process");
        rows.push(in_process::token_check().await?);
    }

    progress.report("creating a workspace with rows and a webhook");
    let workspace = api::BenchWorkspace::create(server).await?;
    let null_server = NullServer::start().await?;
    let address = server.base_url().trim_start_matches("http://").to_owned();
    for (figure, name, requests) in [
        (Figure::TokenCheck, "token check", workspace.token_check()),
        (Figure::SessionRead, "session read", workspace.session_read()),
        (Figure::RowById, "row by id", workspace.row_by_id()),
        (Figure::RowList, "list of 20 rows", workspace.row_list()),
        (Figure::RowInsert, "row insert", workspace.row_insert()),
    ] {
        if options.is_selected(figure) {
            progress.report(name);
            rows.push(measure_with_baseline(name, &address, options, &requests, &null_server).await?);
        }
    }
    if options.crowd {
        progress.report("creating a million tokens");
        bulk_tokens::insert(server).await?;
        for (figure, name, requests) in [
            (Figure::TokenCheck, "token check, crowded", workspace.token_check()),
            (Figure::SessionRead, "session read, crowded", workspace.session_read()),
        ] {
            if options.is_selected(figure) {
                progress.report(name);
                rows.push(measure_with_baseline(name, &address, options, &requests, &null_server).await?);
            }
        }
    }
    for (figures, name, requests) in [
        (&[Figure::WebhookAccept, Figure::RunsFinished][..], "webhook accept", workspace.webhook_requests()),
        (&[Figure::WebhookKeyed], "webhook accept, keyed", workspace.keyed_webhook_requests()),
    ] {
        if !figures.iter().any(|figure| options.is_selected(*figure)) {
            continue;
        }
        progress.report(name);
        let (before, started_at) = (workspace.queue_health().await?.succeeded, Instant::now());
        let accepted = load::run(&address, options.load_plan(), &requests).await.context(name)?;
        progress.report("waiting for the runs to finish");
        let finished =
            wait_for_runs(&workspace, before..before + accepted.response_count, started_at).await?;
        rows.push(add_baseline(name, &accepted, options, &requests, &null_server).await?);
        rows.push(finished);
    }
    if options.is_selected(Figure::StartUp) {
        progress.report("start-up");
        rows.push(measure_start_up(server).await?);
    }

    progress.report("baselines of the machine");
    let folder = server.data_dir().to_owned();
    rows.extend(tokio::task::spawn_blocking(move || measure_machine_baselines(&folder)).await??);
    Ok(rows)
}

impl TableRow {
    pub(super) fn without_baseline(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value, p99: None, baseline: None }
    }
}

/// Measures a load on the server, then the same exchange with the baseline server.
async fn measure_with_baseline(
    name: &str,
    address: &str,
    options: &Options,
    requests: &RequestFactory,
    null_server: &NullServer,
) -> Result<TableRow> {
    let ours = load::run(address, options.load_plan(), requests).await.with_context(|| name.to_owned())?;
    add_baseline(name, &ours, options, requests, null_server).await
}

async fn add_baseline(
    name: &str,
    ours: &LoadResult,
    options: &Options,
    requests: &RequestFactory,
    null_server: &NullServer,
) -> Result<TableRow> {
    let baseline = null_server.measure(options.load_plan(), requests, ours.body_bytes).await?;
    let ratio = ours.per_second / baseline.per_second;
    Ok(TableRow {
        name: name.to_owned(),
        value: format!("{:.0}/s", ours.per_second),
        p99: Some(ours.p99),
        baseline: Some((format!("raw axum, {} B,", ours.body_bytes), baseline.per_second, ratio)),
    })
}

/// Waits until all accepted runs are finished, of which those in the range `accepted` were not, and returns the rate of
/// the latter.
pub(super) async fn wait_for_runs(
    workspace: &api::BenchWorkspace,
    accepted: Range<u64>,
    started_at: Instant,
) -> Result<TableRow> {
    let health = eventually_within(DRAIN_DEADLINE, "the queue drains", async || {
        let health = workspace.queue_health().await?;
        ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
        Ok(health)
    })
    .await?;
    let duration = started_at.elapsed();
    ensure!(health.failed == 0, "{} runs failed or were blocked", health.failed);
    let total = accepted.end;
    ensure!(health.succeeded == total, "{total} runs were accepted, but {} have succeeded", health.succeeded);
    let finished = accepted.end - accepted.start;
    Ok(TableRow::without_baseline(
        "runs finished",
        format!("{:.0}/s", finished as f64 / duration.as_secs_f64()),
    ))
}

/// Measures the median and the p99 of several starts with the current data.
async fn measure_start_up(server: &mut Server) -> Result<TableRow> {
    let mut durations = Vec::new();
    for _ in 0..START_COUNT {
        server.stop().await?;
        let started_at = Instant::now();
        server.restart().await?;
        eventually("the server is ready", async || api::check_ready(server).await).await?;
        durations.push(started_at.elapsed());
    }
    let p99 = load::percentile(&mut durations, 99);
    let median = load::percentile(&mut durations, 50).context("no start was timed")?;
    Ok(TableRow {
        p99,
        ..TableRow::without_baseline("start-up to /readyz", format!("{:.0} ms", median.as_secs_f64() * 1e3))
    })
}

fn measure_machine_baselines(folder: &std::path::Path) -> Result<Vec<TableRow>> {
    let selects = baselines::sqlite_selects_per_second(folder, BASELINE_DURATION)?;
    let syncs = baselines::fdatasyncs_per_second(folder, BASELINE_DURATION)?;
    Ok(vec![
        TableRow::without_baseline("raw SQLite by id", format!("{selects:.0}/s")),
        TableRow::without_baseline("fdatasync of 4 KiB", format!("{syncs:.0}/s")),
    ])
}
