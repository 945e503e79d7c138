//! `cargo xtask bench --beside-release`: rows, webhooks and sessions, beside an earlier release of Qala.
//!
//! Both releases have a database of their own and the same rows. Rounds alternate, and each figure comes with the
//! smallest and the largest ratio of a round: a median inside that scatter says nothing.

use std::{
    path::Path,
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
    rounds::{self, millis},
};

/// Turns each release has at a figure.
const ROUNDS: usize = 7;

/// How long the runs of a round may take.
const DRAIN_DEADLINE: Duration = Duration::from_secs(300);

/// Makes the requests of one figure.
type MakeRequests = fn(&BenchWorkspace) -> RequestFactory;

const FIGURES: [(Figure, &str, MakeRequests); 7] = [
    (Figure::SessionRead, "session read", BenchWorkspace::session_read),
    (Figure::TokenCheck, "token check", BenchWorkspace::token_check),
    (Figure::RowById, "row by id", BenchWorkspace::row_by_id),
    (Figure::RowList, "list of 20 rows", BenchWorkspace::row_list),
    (Figure::RowInsert, "row insert", BenchWorkspace::row_insert),
    (Figure::WebhookAccept, "webhook accept", BenchWorkspace::webhook_requests),
    (Figure::WebhookKeyed, "webhook accept, keyed", BenchWorkspace::keyed_webhook_requests),
];

/// One release, its world and where it listens.
struct Release {
    workspace: BenchWorkspace,
    address: String,
}

impl Release {
    async fn prepare(server: &Server) -> Result<Self> {
        let address = server.base_url().trim_start_matches("http://").to_owned();
        Ok(Self { workspace: BenchWorkspace::create(server).await?, address })
    }

    /// One round, and how many runs a second ended until the queue was empty. It is waited for, so that neither release
    /// leaves work to the other's turn.
    async fn run_round(&self, maker: &RequestFactory, options: &Options) -> Result<(LoadResult, f64)> {
        let since = Instant::now();
        let measured = load::run(&self.address, options.load_plan(), maker).await?;
        eventually_within(DRAIN_DEADLINE, "the queue empties", async || {
            let health = self.workspace.queue_health().await?;
            ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
            ensure!(health.failed == 0, "{} runs failed or were blocked", health.failed);
            Ok(())
        })
        .await?;
        let finished = measured.response_count as f64 / since.elapsed().as_secs_f64();
        Ok((measured, finished))
    }
}

/// What the rounds of both releases found, in the order in which they were run.
#[derive(Default)]
struct RoundPairs(Vec<[f64; 2]>);

impl RoundPairs {
    /// The medians, their ratio, and the smallest and largest ratio of a round.
    fn print(&self, name: &str, p99: [&str; 2]) -> Result<()> {
        let column = |at: usize| rounds::median_value(self.0.iter().map(|pair| pair[at]).collect());
        let (ours, theirs) = (column(0)?, column(1)?);
        let mut ratios: Vec<f64> = self.0.iter().map(|[ours, theirs]| ours / theirs).collect();
        ratios.sort_by(f64::total_cmp);
        let (least, most) = ratios.first().zip(ratios.last()).context("there were rounds")?;
        let [our_p99, their_p99] = p99;
        println!(
            "{name:<24} {ours:>12.0}/s {our_p99:>9} {theirs:>12.0}/s {their_p99:>9} {:>6.2}  {least:.2} to {most:.2}",
            ours / theirs,
        );
        Ok(())
    }
}

/// Starts the earlier release, measures both, and prints each figure as soon as it is taken.
pub(super) async fn run(
    server: &Server,
    earlier: &Path,
    options: &Options,
    progress: &Progress,
) -> Result<()> {
    let cluster = options.postgres.then(|| Postgres::start(progress, Durability::Full)).transpose()?;
    let database =
        cluster.as_ref().map_or(Database::Sqlite, |cluster| Database::Existing(cluster.url().to_owned()));
    let beside = Server::with(database).binary(earlier).of_another_release();
    let beside = super::start_for_bench(beside, super::RateLimits::Lifted).await?;
    progress.report("making a workspace with rows and a webhook at each");
    let (ours, theirs) = (Release::prepare(server).await?, Release::prepare(&beside).await?);

    println!(
        "{:<24} {:>14} {:>9} {:>14} {:>9} {:>6}  rounds",
        "figure", "this release", "p99", "earlier", "p99", "ratio"
    );
    for (figure, name, make) in FIGURES {
        if !options.wants(figure) {
            continue;
        }
        let makers = [&ours, &theirs].map(|release| rounds::with_unique_numbers(&make(&release.workspace)));
        let (mut answered, mut finished) = (RoundPairs::default(), RoundPairs::default());
        let mut measured = [Vec::new(), Vec::new()];
        for round in 1..=ROUNDS {
            progress.report(format!("{name}, round {round} of {ROUNDS}"));
            let (mut speeds, mut ends) = ([0.0; 2], [0.0; 2]);
            // Who comes first changes, so that a machine that slows down meets both.
            for side in if round % 2 == 0 { [1, 0] } else { [0, 1] } {
                let release = [&ours, &theirs][side];
                let (found, runs) = release.run_round(&makers[side], options).await.context(name)?;
                (speeds[side], ends[side]) = (found.per_second, runs);
                measured[side].push(found);
            }
            answered.0.push(speeds);
            finished.0.push(ends);
        }
        let [our_p99, their_p99] =
            measured.map(|found| rounds::median_round(found).map(|found| millis(found.p99)));
        answered.print(name, [&our_p99?, &their_p99?])?;
        if matches!(figure, Figure::WebhookAccept | Figure::WebhookKeyed) {
            finished.print("  their runs finished", ["", ""])?;
        }
    }
    Ok(())
}
