//! Costs of each operation: processor time of the server, of the processes that run apps and of PostgreSQL, and PostgreSQL's
//! statements and syncs.

use std::{sync::Arc, time::Duration};

use ::tests::{Server, eventually_within};
use anyhow::{Context as _, Result, ensure};
use sqlx::{Connection as _, PgConnection};
use tokio::time::sleep;
use xtask::shell::Progress;

use crate::{
    Options, api,
    load::{self, RequestFactory},
    processes::{ProcessorMeter, private_dirty_bytes},
    rounds,
};

/// Limit for the runs of a round to finish.
const DRAIN_DEADLINE: Duration = Duration::from_secs(300);
/// Time after which PostgreSQL has counted what its processes did.
const STATISTICS_DELAY: Duration = Duration::from_millis(1_500);

/// Counts of PostgreSQL since the last reset.
#[derive(Default)]
struct DatabaseCounts {
    statements: f64,
    syncs: f64,
    wal_bytes: f64,
}

/// PostgreSQL's own counts.
struct Statistics(PgConnection);

impl Statistics {
    async fn open(url: &str) -> Result<Self> {
        let mut connection = PgConnection::connect(url).await?;
        sqlx::raw_sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            .execute(&mut connection)
            .await
            .context("this scene needs PostgreSQL's extension pg_stat_statements")?;
        sqlx::raw_sql("ALTER SYSTEM SET pg_stat_statements.track = 'top'").execute(&mut connection).await?;
        sqlx::raw_sql("SELECT pg_reload_conf()").execute(&mut connection).await?;
        Ok(Self(connection))
    }

    async fn reset(&mut self) -> Result<()> {
        sleep(STATISTICS_DELAY).await;
        sqlx::raw_sql("SELECT pg_stat_reset_shared('wal'), pg_stat_statements_reset()")
            .execute(&mut self.0)
            .await?;
        Ok(())
    }

    async fn read(&mut self) -> Result<DatabaseCounts> {
        sleep(STATISTICS_DELAY).await;
        let sql = "SELECT (SELECT coalesce(sum(calls), 0)::float8 FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat%'), \
                   wal_sync::float8, wal_bytes::float8 FROM pg_stat_wal";
        let (statements, syncs, wal_bytes) = sqlx::query_as(sql).fetch_one(&mut self.0).await?;
        Ok(DatabaseCounts { statements, syncs, wal_bytes })
    }
}

/// Measures one operation after the other, and prints each as soon as it is measured.
pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let dirty = private_dirty_bytes(server.process_id().context("the server is not running")?);
    progress.report("creating a workspace with rows, apps and runs");
    let address = server.base_url().trim_start_matches("http://").to_owned();
    let workspace = api::BenchWorkspace::create(server).await?;
    workspace.fill_lists(&address).await?;
    let page = workspace.page().await?;
    let meter = ProcessorMeter::new(server).await?;
    let mut statistics = match server.database_url() {
        Some(url) => Some(Statistics::open(url).await?),
        None => None,
    };
    let operations: [(&str, RequestFactory); 13] = [
        ("health", api::healthz()),
        ("session read", workspace.session_read()),
        ("token check", workspace.token_check()),
        ("row by id", workspace.row_by_id()),
        ("list of 20 rows", workspace.row_list()),
        ("row insert", workspace.row_insert()),
        ("bulk insert of 500", workspace.row_bulk()),
        ("list of runs", workspace.run_list()),
        ("one app", workspace.app_read()),
        ("list of apps", workspace.app_list()),
        ("page of an app", Arc::clone(&page)),
        ("webhook to its finished run", workspace.webhook_requests()),
        ("the same with a key", workspace.keyed_webhook_requests()),
    ];
    println!("private memory of the server that it has written, at its start: {:.1} MB", dirty as f64 / 1e6);
    println!(
        "{:<28} {:>9} {:>10} {:>10} {:>10} {:>10} {:>8} {:>9}",
        "operation", "rate", "server", "workers", "database", "statements", "syncs", "WAL"
    );
    for (name, requests) in operations {
        progress.report(name);
        let requests = rounds::with_unique_numbers(&requests);
        // The first load fills caches and starts processes.
        load::run(&address, options.load_plan(), &requests).await?;
        drain(&workspace).await?;
        if let Some(statistics) = &mut statistics {
            statistics.reset().await?;
        }
        let before = meter.read()?;
        let result = load::run(&address, options.load_plan(), &requests).await?;
        drain(&workspace).await?;
        let used = meter.read()? - before;
        let counts = match &mut statistics {
            Some(statistics) => Some(statistics.read().await?),
            None => None,
        };
        let operations = result.response_count.max(1) as f64;
        let micros = |time: Duration| format!("{:.0} µs", time.as_secs_f64() * 1e6 / operations);
        let of_database = |count: fn(&DatabaseCounts) -> f64, decimals: usize, unit: &str| {
            counts
                .as_ref()
                .map_or_else(String::new, |all| format!("{:.decimals$}{unit}", count(all) / operations))
        };
        println!(
            "{name:<28} {:>7.0}/s {:>10} {:>10} {:>10} {:>10} {:>8} {:>9}",
            result.per_second,
            micros(used.server),
            micros(used.workers),
            if counts.is_some() { micros(used.database) } else { String::new() },
            of_database(|all| all.statements, 2, ""),
            of_database(|all| all.syncs, 2, ""),
            of_database(|all| all.wal_bytes, 0, " B"),
        );
    }
    Ok(())
}

async fn drain(workspace: &api::BenchWorkspace) -> Result<()> {
    eventually_within(DRAIN_DEADLINE, "the queue drains", async || {
        let health = workspace.queue_health().await?;
        ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
        Ok(())
    })
    .await
}
