//! The list of runs and the rate of runs without old runs and with a million of them, which must not slow them down.

use std::{sync::Arc, time::Instant};

use ::tests::Server;
use anyhow::Result;
use sqlx::{ConnectOptions as _, Connection as _, postgres::PgConnection, sqlite::SqliteConnectOptions};
use xtask::shell::Progress;

use crate::{
    Options, api, figures,
    load::{self, LoadResult},
    rounds::{ROUNDS, median_round, median_value, millis},
};

const RUNS: u64 = 1_000_000;
/// Distance between the delivery numbers of two rounds. Connections use numbers up unevenly, and none may be used
/// twice.
const NUMBERS_PER_ROUND: u64 = 1 << 32;
/// Runs per transaction, so that the server can write in between.
const BATCH_SIZE: u64 = 50_000;

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let workspace = api::BenchWorkspace::create(server).await?;
    let mut sent = SentTotals::default();
    let empty = measure(server, &workspace, options, progress, &mut sent).await?;
    insert_old_runs(server, progress).await?;
    let full = measure(server, &workspace, options, progress, &mut sent).await?;
    println!(
        "{:<18} {:>12} {:>9} {:>14} {:>9} {:>6}",
        "figure", "before", "p99", "among 1,000,000", "p99", "ratio"
    );
    for (name, before, after) in
        [("list of 50 runs", &empty.list, &full.list), ("webhook accept", &empty.accept, &full.accept)]
    {
        println!(
            "{name:<18} {:>10.0}/s {:>9} {:>13.0}/s {:>9} {:>6.2}",
            before.per_second,
            millis(before.p99),
            after.per_second,
            millis(after.p99),
            before.per_second / after.per_second
        );
    }
    let (before, after) = (empty.finished, full.finished);
    println!(
        "{:<18} {before:>10.0}/s {:>9} {after:>13.0}/s {:>9} {:>6.2}",
        "runs finished",
        "",
        "",
        before / after
    );
    Ok(())
}

/// Numbers of rounds and of accepted deliveries so far.
#[derive(Default)]
struct SentTotals {
    rounds: u64,
    accepted: u64,
}

struct HistoryResult {
    list: LoadResult,
    accept: LoadResult,
    /// Runs per second.
    finished: f64,
}

async fn measure(
    server: &Server,
    workspace: &api::BenchWorkspace,
    options: &Options,
    progress: &Progress,
    sent: &mut SentTotals,
) -> Result<HistoryResult> {
    let address = server.base_url().trim_start_matches("http://");
    let webhook = workspace.webhook_requests();
    let (mut lists, mut accepts, mut finish_rates) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress.report(format!("deliveries, round {round} of {ROUNDS}"));
        let (started_at, first) = (Instant::now(), sent.rounds * NUMBERS_PER_ROUND);
        sent.rounds += 1;
        let requests: load::RequestFactory = {
            let webhook = Arc::clone(&webhook);
            Arc::new(move |number| webhook(first + number))
        };
        let accept = load::run(address, options.load_plan(), &requests).await?;
        sent.accepted += accept.response_count;
        figures::wait_for_runs(workspace, 0..sent.accepted, started_at).await?;
        finish_rates.push(accept.response_count as f64 / started_at.elapsed().as_secs_f64());
        accepts.push(accept);
        progress.report(format!("lists of runs, round {round} of {ROUNDS}"));
        lists.push(load::run(address, options.load_plan(), &workspace.run_list()).await?);
    }
    Ok(HistoryResult {
        list: median_round(lists)?,
        accept: median_round(accepts)?,
        finished: median_value(finish_rates)?,
    })
}

/// Inserts old runs of the automation, with ids that match their times.
pub(super) async fn insert_old_runs(server: &Server, progress: &Progress) -> Result<()> {
    let insert = |id: &str, first: u64| {
        format!(
            "WITH RECURSIVE n (i) AS (SELECT CAST({first} AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
             INSERT INTO runs (id, workspace_id, app_id, automation_id, version_id, trigger_kind, status, accepted_at, \
             started_at, finished_at, attempt, minutes_saved) \
             SELECT {id}, latest.workspace_id, latest.app_id, latest.automation_id, latest.version_id, 'webhook', 'succeeded', \
             1700000000000 + i * 1000, 1700000000000 + i * 1000, 1700000000000 + i * 1000, 1, 0 \
             FROM n CROSS JOIN (SELECT * FROM runs ORDER BY id DESC LIMIT 1) latest",
            first + BATCH_SIZE - 1
        )
    };
    let batches = (0..RUNS).step_by(usize::try_from(BATCH_SIZE)?);
    match server.database_url() {
        Some(url) => {
            let mut db = PgConnection::connect(url).await?;
            let id = "CAST(lpad(to_hex(1700000000000 + i * 1000), 12, '0') || '7000' || \
                      substr(md5(random()::text), 1, 16) AS uuid)";
            for first in batches {
                progress.report(format!("inserting old runs, {first} of {RUNS}"));
                sqlx::raw_sql(sqlx::AssertSqlSafe(insert(id, first))).execute(&mut db).await?;
            }
            sqlx::raw_sql("ANALYZE").execute(&mut db).await?;
        }
        None => {
            let options = SqliteConnectOptions::new().filename(server.data_dir().join("qala.db"));
            let mut db = options.busy_timeout(std::time::Duration::from_secs(60)).connect().await?;
            let id = "unhex(printf('%012x7000', 1700000000000 + i * 1000) || hex(randomblob(8)))";
            for first in batches {
                progress.report(format!("inserting old runs, {first} of {RUNS}"));
                sqlx::raw_sql(sqlx::AssertSqlSafe(insert(id, first))).execute(&mut db).await?;
            }
        }
    }
    Ok(())
}
