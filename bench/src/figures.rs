//! Taking the figures.

use std::{
    fs,
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
};

/// Long enough for what a start leaves behind to settle.
const IDLE_WAIT: Duration = Duration::from_secs(2);

/// How many starts are timed.
const START_COUNT: usize = 10;

/// How long the queue may take to empty after the last delivery.
const DRAIN_DEADLINE: Duration = Duration::from_secs(300);

/// How long a floor without a server is measured.
const BASELINE_DURATION: Duration = Duration::from_secs(2);

/// Takes the wanted figures, in an order in which none disturbs the next.
pub(super) async fn measure(
    server: &mut Server,
    options: &Options,
    progress: &Progress,
) -> Result<Vec<TableRow>> {
    let mut lines = Vec::new();
    if options.wants(Figure::IdleMemory) {
        progress.report("idle memory");
        eventually("the server is ready", async || api::check_ready(server).await).await?;
        sleep(IDLE_WAIT).await;
        let bytes = resident_bytes(server.process_id().context("the server runs")?)?;
        lines.push(TableRow::without_baseline("idle memory", format!("{:.1} MB", bytes as f64 / 1e6)));
    }

    if options.wants(Figure::TokenCheckInProcess) {
        progress.report("token check in process");
        lines.push(in_process::token_check().await?);
    }

    progress.report("making a workspace with rows and a webhook");
    let world = api::BenchWorkspace::create(server).await?;
    let null_server = NullServer::start().await?;
    let address = server.base_url().trim_start_matches("http://").to_owned();
    for (figure, name, maker) in [
        (Figure::TokenCheck, "token check", world.token_check()),
        (Figure::SessionRead, "session read", world.session_read()),
        (Figure::RowById, "row by id", world.row_by_id()),
        (Figure::RowList, "list of 20 rows", world.row_list()),
        (Figure::RowInsert, "row insert", world.row_insert()),
    ] {
        if options.wants(figure) {
            progress.report(name);
            lines.push(measure_with_baseline(name, &address, options, &maker, &null_server).await?);
        }
    }
    if options.crowd {
        progress.report("making a million tokens");
        bulk_tokens::insert(server).await?;
        for (figure, name, maker) in [
            (Figure::TokenCheck, "token check, crowded", world.token_check()),
            (Figure::SessionRead, "session read, crowded", world.session_read()),
        ] {
            if options.wants(figure) {
                progress.report(name);
                lines.push(measure_with_baseline(name, &address, options, &maker, &null_server).await?);
            }
        }
    }
    for (figures, name, maker) in [
        (&[Figure::WebhookAccept, Figure::RunsFinished][..], "webhook accept", world.webhook_requests()),
        (&[Figure::WebhookKeyed], "webhook accept, keyed", world.keyed_webhook_requests()),
    ] {
        if !figures.iter().any(|figure| options.wants(*figure)) {
            continue;
        }
        progress.report(name);
        let (before, since) = (world.queue_health().await?.succeeded, Instant::now());
        let accepted = load::run(&address, options.load_plan(), &maker).await.context(name)?;
        progress.report("waiting for the runs to finish");
        let finished = wait_for_runs(&world, before..before + accepted.response_count, since).await?;
        lines.push(add_baseline(name, &accepted, options, &maker, &null_server).await?);
        lines.push(finished);
    }
    if options.wants(Figure::StartUp) {
        progress.report("start-up");
        lines.push(measure_start_up(server).await?);
    }

    progress.report("floors of the machine");
    let folder = server.data_dir().to_owned();
    lines.extend(tokio::task::spawn_blocking(move || measure_machine_baselines(&folder)).await??);
    Ok(lines)
}

impl TableRow {
    pub(super) fn without_baseline(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value, p99: None, baseline: None }
    }
}

/// A load on the server, then the same exchange with the server that does nothing.
async fn measure_with_baseline(
    name: &str,
    address: &str,
    options: &Options,
    maker: &RequestFactory,
    null_server: &NullServer,
) -> Result<TableRow> {
    let ours = load::run(address, options.load_plan(), maker).await.with_context(|| name.to_owned())?;
    add_baseline(name, &ours, options, maker, null_server).await
}

async fn add_baseline(
    name: &str,
    ours: &LoadResult,
    options: &Options,
    maker: &RequestFactory,
    null_server: &NullServer,
) -> Result<TableRow> {
    let floor = null_server.measure(options.load_plan(), maker, ours.body_bytes).await?;
    let ratio = ours.per_second / floor.per_second;
    Ok(TableRow {
        name: name.to_owned(),
        value: format!("{:.0}/s", ours.per_second),
        p99: Some(ours.p99),
        baseline: Some((format!("raw axum, {} B,", ours.body_bytes), floor.per_second, ratio)),
    })
}

/// Waits until those of the runs `accepted` that were not finished are; how many a second that makes.
pub(super) async fn wait_for_runs(
    world: &api::BenchWorkspace,
    accepted: Range<u64>,
    since: Instant,
) -> Result<TableRow> {
    let health = eventually_within(DRAIN_DEADLINE, "the queue empties", async || {
        let health = world.queue_health().await?;
        ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
        Ok(health)
    })
    .await?;
    let took = since.elapsed();
    ensure!(health.failed == 0, "{} runs failed or were blocked", health.failed);
    let all = accepted.end;
    ensure!(health.succeeded == all, "{all} were accepted and {} have finished", health.succeeded);
    let finished = accepted.end - accepted.start;
    Ok(TableRow::without_baseline("runs finished", format!("{:.0}/s", finished as f64 / took.as_secs_f64())))
}

/// The median and the longest of several starts on the data as it is now.
async fn measure_start_up(server: &mut Server) -> Result<TableRow> {
    let mut took = Vec::new();
    for _ in 0..START_COUNT {
        server.stop().await?;
        let since = Instant::now();
        server.restart().await?;
        eventually("the server is ready", async || api::check_ready(server).await).await?;
        took.push(since.elapsed());
    }
    let p99 = load::percentile(&mut took, 99);
    let median = load::percentile(&mut took, 50).context("there were starts")?;
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

/// The memory of a process and all its descendants. Of a page that several share, each has its part (`Pss` of
/// `proc_pid_smaps_rollup(5)`).
pub(super) fn resident_bytes(root: u32) -> Result<u64> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        // A process may end between being listed and being read.
        if let Ok(status) = fs::read_to_string(format!("/proc/{id}/status")) {
            processes.push((id, status_field(&status, "PPid").unwrap_or(0)));
        }
    }
    let mut tree = vec![u64::from(root)];
    let mut kilobytes = 0;
    while let Some(process) = tree.pop() {
        let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
        kilobytes += status_field(&rollup, "Pss").unwrap_or(0);
        tree.extend(processes.iter().filter(|(_, parent)| *parent == process).map(|(id, _)| u64::from(*id)));
    }
    Ok(kilobytes * 1024)
}

fn status_field(status: &str, name: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_from_a_process_status() {
        let status = "Name:\tqala\nPPid:\t12\nVmRSS:\t   20480 kB\n";
        assert_eq!(status_field(status, "PPid"), Some(12));
        assert_eq!(status_field(status, "VmRSS"), Some(20480));
        assert_eq!(status_field(status, "VmSwap"), None);
    }

    #[test]
    fn our_own_memory_is_more_than_none() {
        assert!(resident_bytes(std::process::id()).unwrap() > 100_000);
    }
}
