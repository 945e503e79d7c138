//! The overview and the histogram of runs, of a workspace of few apps and of one of 10,000 apps and a million runs.
//!
//! One connection asks for them over and over, as one console does.

use std::time::{Duration, Instant};

use ::tests::Server;
use anyhow::Result;
use sqlx::{ConnectOptions as _, Connection as _, postgres::PgConnection, sqlite::SqliteConnectOptions};
use xtask::shell::Progress;

use super::history;
use crate::{
    Options, api, figures,
    load::{self, LoadPlan, LoadResult},
    rounds::{ROUNDS, median_round, millis},
};

const APPS: u64 = 10_000;

/// Responses of a workspace, for one connection.
struct Measured {
    overview: LoadResult,
    histogram: LoadResult,
}

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let workspace = api::BenchWorkspace::create(server).await?;
    let few = measure(server, &workspace, options, progress).await?;
    // The old runs are copies of one.
    let address = server.base_url().trim_start_matches("http://");
    let single = LoadPlan { connections: 1, duration: Duration::from_secs(1), interval: None };
    let (started_at, sent) =
        (Instant::now(), load::run(address, single, &workspace.webhook_requests()).await?.response_count);
    figures::wait_for_runs(&workspace, 0..sent, started_at).await?;
    history::insert_old_runs(server, progress).await?;
    insert_apps(server, progress).await?;
    let many = measure(server, &workspace, options, progress).await?;
    println!("{:<44} {:>10} {:>9} {:>9} {:>10}", "response", "rate", "p95", "p99", "body");
    for (name, measured) in [
        ("overview, few apps", few.overview),
        ("overview, 10,000 apps and 1,000,000 runs", many.overview),
        ("runs by time, no runs", few.histogram),
        ("runs by time, newest 20,000 of 1,000,000", many.histogram),
    ] {
        let LoadResult { per_second, p95, p99, body_bytes, .. } = measured;
        println!("{name:<44} {per_second:>8.0}/s {:>9} {:>9} {body_bytes:>8} B", millis(p95), millis(p99));
    }
    Ok(())
}

async fn measure(
    server: &Server,
    workspace: &api::BenchWorkspace,
    options: &Options,
    progress: &Progress,
) -> Result<Measured> {
    let address = server.base_url().trim_start_matches("http://");
    let plan = LoadPlan { connections: 1, ..options.load_plan() };
    let (mut overviews, mut histograms) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress.report(format!("overviews and runs by time, round {round} of {ROUNDS}"));
        overviews.push(load::run(address, plan, &workspace.overview()).await?);
        histograms.push(load::run(address, plan, &workspace.run_histogram()).await?);
    }
    Ok(Measured { overview: median_round(overviews)?, histogram: median_round(histograms)? })
}

/// Inserts copies of an app, each of which was observed; of a tenth, runs were blocked.
async fn insert_apps(server: &Server, progress: &Progress) -> Result<()> {
    progress.report(format!("inserting {APPS} apps"));
    let apps = |id: &str| {
        format!(
            "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < {APPS}) \
             INSERT INTO apps (id, workspace_id, slug, name, description, archetype, category, sharing, paused, in_review, \
             current_version_id, declares_webhook, declares_form, created_by, created_at, revision) \
             SELECT {id}, a.workspace_id, a.slug || '-' || i, a.name || ' ' || i, a.description, a.archetype, a.category, \
             a.sharing, a.paused, a.in_review, a.current_version_id, a.declares_webhook, a.declares_form, a.created_by, \
             a.created_at, 1 FROM n CROSS JOIN (SELECT * FROM apps WHERE current_version_id IS NOT NULL ORDER BY id DESC LIMIT 1) a"
        )
    };
    let observed = "INSERT INTO app_observations (app_id, workspace_id, observed_at) \
                    SELECT id, workspace_id, created_at FROM apps \
                    WHERE NOT EXISTS (SELECT 1 FROM app_observations o WHERE o.app_id = apps.id)";
    let failing = "INSERT INTO app_blocked_runs (workspace_id, app_id, quarter, runs) \
                   SELECT workspace_id, id, created_at / 900000, 3 FROM apps WHERE slug LIKE '%7'";
    match server.database_url() {
        Some(url) => {
            let mut db = PgConnection::connect(url).await?;
            let id = "CAST('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0') AS uuid)";
            for statement in [apps(id), observed.to_owned(), failing.to_owned(), "ANALYZE".to_owned()] {
                sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut db).await?;
            }
        }
        None => {
            let options = SqliteConnectOptions::new().filename(server.data_dir().join("qala.db"));
            let mut db = options.busy_timeout(Duration::from_secs(60)).connect().await?;
            let id = "unhex('0190000000007000' || printf('8000%012x', i))";
            for statement in [apps(id), observed.to_owned(), failing.to_owned()] {
                sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut db).await?;
            }
        }
    }
    Ok(())
}
