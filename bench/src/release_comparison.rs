//! `cargo xtask bench --beside-release`: compares rows, webhooks, sessions, lists and pages of apps with an earlier release of
//! Qala.
//!
//! Each release has its own database with the same rows. Rounds alternate, and each figure is printed with the median and the
//! quartiles of the ratios of rounds, and the smallest and the largest: a difference within that scatter means nothing. The
//! processor time of a server per response scatters less than its rate, and its ratio to that of the processes that run the same
//! code of apps on both sides scatters least.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use ::tests::{Database, Server, eventually_within};
use anyhow::{Context as _, Result, ensure};
use xtask::{
    postgres::{Durability, Postgres},
    shell::Progress,
};

use super::{
    Figure, Options,
    api::BenchWorkspace,
    load::{self, LoadResult, RequestFactory},
    processes::ProcessorMeter,
    rounds::{self, millis},
};

/// Limit for the runs of a round to finish.
const DRAIN_DEADLINE: Duration = Duration::from_secs(300);

/// Returns the requests of one figure.
type MakeRequests = fn(&Release) -> RequestFactory;

const FIGURES: [(Figure, &str, MakeRequests); 12] = [
    (Figure::SessionRead, "session read", |release| release.workspace.session_read()),
    (Figure::TokenCheck, "token check", |release| release.workspace.token_check()),
    (Figure::RowById, "row by id", |release| release.workspace.row_by_id()),
    (Figure::RowList, "list of 20 rows", |release| release.workspace.row_list()),
    (Figure::RowInsert, "row insert", |release| release.workspace.row_insert()),
    (Figure::RowBulk, "bulk insert of 500", |release| release.workspace.row_bulk()),
    (Figure::RunList, "list of runs", |release| release.workspace.run_list()),
    (Figure::AppRead, "one app", |release| release.workspace.app_read()),
    (Figure::AppList, "list of apps", |release| release.workspace.app_list()),
    (Figure::AppHttp, "page of an app", |release| Arc::clone(&release.page)),
    (Figure::WebhookAccept, "webhook accept", |release| release.workspace.webhook_requests()),
    (Figure::WebhookKeyed, "webhook accept, keyed", |release| release.workspace.keyed_webhook_requests()),
];

/// A release with its workspace and address.
struct Release {
    workspace: BenchWorkspace,
    /// Requests for the page of an app.
    page: RequestFactory,
    address: String,
    meter: ProcessorMeter,
}

/// Measurements of a round.
struct Round {
    load: LoadResult,
    /// Rate at which runs finished.
    finished: f64,
    /// Processor time of the server per response, in microseconds, without its workers and the database.
    processor_time: f64,
    /// Processor time of the server divided by that of its workers.
    server_per_workers: f64,
}

impl Release {
    async fn prepare(server: &Server) -> Result<Self> {
        let address = server.base_url().trim_start_matches("http://").to_owned();
        let workspace = BenchWorkspace::create(server).await?;
        let page = workspace.page().await?;
        workspace.fill_lists(&address).await?;
        let meter = ProcessorMeter::new(server).await?;
        let release = Self { workspace, page, address, meter };
        release.wait_for_runs().await?;
        Ok(release)
    }

    /// Runs one round. It waits until the queue is empty, so that no release leaves work to the other's round.
    async fn run_round(&self, requests: &RequestFactory, options: &Options) -> Result<Round> {
        let (started_at, used_before) = (Instant::now(), self.meter.read()?);
        let load = load::run(&self.address, options.load_plan(), requests).await?;
        self.wait_for_runs().await?;
        let finished = load.response_count as f64 / started_at.elapsed().as_secs_f64();
        let used = self.meter.read()? - used_before;
        let processor_time = used.server.as_secs_f64() * 1e6 / load.response_count.max(1) as f64;
        let server_per_workers = used.server.as_secs_f64() / used.workers.as_secs_f64();
        Ok(Round { load, finished, processor_time, server_per_workers })
    }

    async fn wait_for_runs(&self) -> Result<()> {
        eventually_within(DRAIN_DEADLINE, "the queue drains", async || {
            let health = self.workspace.queue_health().await?;
            ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
            ensure!(health.failed == 0, "{} runs failed or were blocked", health.failed);
            Ok(())
        })
        .await
    }
}

/// Results of both releases by round.
#[derive(Default)]
struct RoundPairs(Vec<[f64; 2]>);

impl RoundPairs {
    /// Prints the medians, and the median and the quartiles of the ratios of rounds between the smallest and the largest.
    fn print(&self, name: &str, (unit, decimals): (&str, usize), p99: [&str; 2]) -> Result<()> {
        let column = |at: usize| rounds::median_value(self.0.iter().map(|pair| pair[at]).collect());
        let (ours, theirs) = (column(0)?, column(1)?);
        let ratios: Vec<f64> = self.0.iter().map(|[ours, theirs]| ours / theirs).collect();
        let [min, lower, median, upper, max] = rounds::quartiles(ratios)?;
        let [our_p99, their_p99] = p99;
        println!(
            "{name:<24} {ours:>11.decimals$}{unit:<3} {our_p99:>9} {theirs:>11.decimals$}{unit:<3} {their_p99:>9} {median:>6.2}  {lower:.2} to {upper:.2}  ({min:.2} to {max:.2})",
        );
        Ok(())
    }
}

/// Starts the earlier release, measures both, and prints each figure as soon as it is measured.
pub(super) async fn run(
    server: &Server,
    earlier: &Path,
    options: &Options,
    progress: &Progress,
) -> Result<()> {
    let cluster = options.postgres.then(|| Postgres::start(progress, Durability::Full)).transpose()?;
    let database =
        cluster.as_ref().map_or(Database::Sqlite, |cluster| Database::Existing(cluster.url().to_owned()));
    let options_of_earlier = Server::with(database).binary(earlier).of_another_release();
    let earlier_server = super::start_for_bench(options_of_earlier, super::RateLimits::Lifted).await?;
    progress.report("creating a workspace with rows and a webhook in each");
    let (ours, theirs) = (Release::prepare(server).await?, Release::prepare(&earlier_server).await?);

    println!(
        "{:<24} {:>14} {:>9} {:>14} {:>9} {:>6}  quartiles     (all rounds)",
        "figure", "this release", "p99", "earlier", "p99", "ratio"
    );
    for (figure, name, make_requests) in FIGURES {
        if !options.is_selected(figure) {
            continue;
        }
        let request_factories =
            [&ours, &theirs].map(|release| rounds::with_unique_numbers(&make_requests(release)));
        let [mut responses, mut finished, mut used, mut per_workers] =
            std::array::from_fn(|_| RoundPairs::default());
        let mut measured = [Vec::new(), Vec::new()];
        for round in 1..=options.rounds {
            progress.report(format!("{name}, round {round} of {}", options.rounds));
            let [mut rates, mut finish_rates, mut processor_times, mut worker_ratios] = [[0.0; 2]; 4];
            // The order alternates, so that a machine that slows down affects both.
            for side in if round % 2 == 0 { [1, 0] } else { [0, 1] } {
                let release = [&ours, &theirs][side];
                let round = release.run_round(&request_factories[side], options).await.context(name)?;
                (rates[side], finish_rates[side]) = (round.load.per_second, round.finished);
                processor_times[side] = round.processor_time;
                worker_ratios[side] = round.server_per_workers;
                measured[side].push(round.load);
            }
            responses.0.push(rates);
            finished.0.push(finish_rates);
            used.0.push(processor_times);
            per_workers.0.push(worker_ratios);
        }
        let [our_p99, their_p99] =
            measured.map(|results| rounds::median_round(results).map(|median| millis(median.p99)));
        responses.print(name, ("/s", 0), [&our_p99?, &their_p99?])?;
        let has_runs = matches!(figure, Figure::WebhookAccept | Figure::WebhookKeyed);
        if has_runs {
            finished.print("  their runs finished", ("/s", 0), ["", ""])?;
        }
        used.print("  processor time", (" µs", 0), ["", ""])?;
        if has_runs || figure == Figure::AppHttp {
            per_workers.print("  server ÷ workers", ("", 2), ["", ""])?;
        }
    }
    Ok(())
}
