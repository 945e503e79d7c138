//! Rates while 200,000 runs wait, on a database that was never analysed. Compare two programs by running the scene with each.

use std::time::{Duration, Instant};

use ::tests::{Server, eventually};
use anyhow::{Context as _, Result, ensure};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, postgres::PgConnection, sqlite::SqliteConnectOptions,
};
use tokio::time::sleep;
use xtask::shell::Progress;

use crate::{Options, api, load, rounds::millis};

const WAITING_RUNS: u64 = 200_000;

pub(super) async fn run(server: &mut Server, options: &Options, progress: &Progress) -> Result<()> {
    let workspace = api::BenchWorkspace::create(server).await?;
    let webhook = workspace.webhook_requests();
    let address = server.base_url().trim_start_matches("http://").to_owned();
    // At least one run, to be copied.
    let one = load::LoadPlan { connections: 1, duration: Duration::from_millis(500), interval: None };
    load::run(&address, one, &webhook).await?;
    let idle = async || {
        let waiting = workspace.queue_health().await?.unfinished;
        ensure!(waiting == 0, "{waiting} runs are not finished");
        Ok(())
    };
    eventually("the first runs finish", idle).await?;

    progress.report(format!("adding {WAITING_RUNS} runs that wait"));
    server.stop().await?;
    insert_waiting_runs(server).await?;
    server.restart().await?;
    eventually("the server is ready", async || api::check_ready(server).await).await?;

    progress.report("runs that wait, alone");
    let (before, started_at) = (workspace.queue_health().await?.unfinished, Instant::now());
    sleep(options.load_plan().duration).await;
    let (after, duration) = (workspace.queue_health().await?.unfinished, started_at.elapsed());
    let left = "the queue was emptied: measure for fewer --seconds";
    ensure!(after > 0, left);
    println!("{:<34} {:>8.0}/s", "runs finished", (before - after) as f64 / duration.as_secs_f64());

    progress.report("webhooks beside them");
    let (before, started_at) = (after, Instant::now());
    let numbers: load::RequestFactory = std::sync::Arc::new(move |number| webhook((1 << 32) + number));
    let accepted = load::run(&address, options.load_plan(), &numbers).await?;
    let (after, duration) = (workspace.queue_health().await?.unfinished, started_at.elapsed());
    ensure!(after > 0, left);
    let finished = (before + accepted.response_count).checked_sub(after).context("runs appeared")?;
    println!(
        "{:<34} {:>8.0}/s  p99 {}",
        "webhook accept beside them",
        accepted.per_second,
        millis(accepted.p99)
    );
    println!("{:<34} {:>8.0}/s", "runs finished meanwhile", finished as f64 / duration.as_secs_f64());
    Ok(())
}

/// Adds copies of the latest run that have not begun, with ids of the same time.
async fn insert_waiting_runs(server: &Server) -> Result<()> {
    let statements = |id: &str| {
        let numbers = format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {WAITING_RUNS}), \
             latest AS (SELECT r.*, i.input FROM runs r JOIN run_inputs i ON i.run_id = r.id ORDER BY r.id DESC LIMIT 1)"
        );
        let runs = format!(
            "INSERT INTO runs (id, workspace_id, app_id, automation_id, trigger_kind, status, accepted_at, attempt, minutes_saved) \
             {numbers} SELECT {id}, workspace_id, app_id, automation_id, 'webhook', 'queued', accepted_at, 0, 0 FROM n CROSS JOIN latest"
        );
        let waiting = "FROM runs r WHERE r.status = 'queued'";
        let inputs = format!(
            "INSERT INTO run_inputs (run_id, input) SELECT r.id, (SELECT input FROM run_inputs LIMIT 1) {waiting}"
        );
        let queue = format!(
            "INSERT INTO run_queue (run_id, workspace_id, automation_id, state, available_at, attempt) \
             SELECT r.id, r.workspace_id, r.automation_id, 0, r.accepted_at, 0 {waiting}"
        );
        [runs, inputs, queue]
    };
    match server.database_url() {
        Some(url) => {
            let mut db = PgConnection::connect(url).await?;
            let id = "CAST(lpad(to_hex(accepted_at), 12, '0') || '70008000' || lpad(to_hex(n.i), 12, '0') AS uuid)";
            for statement in statements(id) {
                sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut db).await?;
            }
        }
        None => {
            let options = SqliteConnectOptions::new().filename(server.data_dir().join("qala.db"));
            let mut db = options.connect().await?;
            let id = "unhex(printf('%012x70008000%012x', accepted_at, n.i))";
            for statement in statements(id) {
                sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut db).await?;
            }
        }
    }
    Ok(())
}
