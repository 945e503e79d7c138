//! `kill -9` under load in 20 rounds: of the server, of a worker process and of PostgreSQL in turn.

use std::{fs, time::Duration};

use ::tests::{Server, eventually};
use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, PgConnection};
use tokio::time::sleep;
use xtask::shell::Progress;

use super::delivery_log::{DeliveryReport, Senders};
use crate::api;

const ROUNDS: u64 = 20;
const SENDERS: u64 = 4;

#[derive(Debug, Clone, Copy)]
enum KillTarget {
    Server,
    Worker,
    Postgres,
}

pub(super) async fn run(server: &mut Server, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let workspace = api::WebhookWorkspace::create(&owner, 0).await?;
    let mut senders = Senders::new();
    senders.start(workspace.webhook(), SENDERS);
    let targets: &[KillTarget] = match server.database_url() {
        None => &[KillTarget::Server, KillTarget::Worker],
        Some(_) => &[KillTarget::Server, KillTarget::Worker, KillTarget::Postgres],
    };
    for (round, target) in (1..=ROUNDS).zip(targets.iter().copied().cycle()) {
        // The delays are spread over a second and a half, and are the same in every run.
        sleep(Duration::from_millis(100 + round * 7919 % 1400)).await;
        progress.report(format!("round {round} of {ROUNDS}: {target:?}"));
        match target {
            KillTarget::Server => {
                server.kill()?;
                server.restart().await?;
            }
            KillTarget::Worker => kill_worker(server)?,
            KillTarget::Postgres => {
                kill_postgres(server.database_url().context("there is no PostgreSQL")?).await?;
            }
        }
        eventually("the server is ready", async || api::check_ready(server).await).await?;
    }
    progress.report("waiting for the runs to finish");
    print_report(&senders.reconcile(&owner, &workspace.id).await?);
    Ok(())
}

/// Prints the result of all calls.
pub(super) fn print_report(report: &DeliveryReport) {
    let DeliveryReport { sent, accepted, succeeded, failed } = report;
    println!(
        "{sent} calls, {accepted} accepted, none lost; {succeeded} runs succeeded, {failed} failed, each ended once"
    );
}

/// Kills the youngest child of the server, which is a worker process, busy or idle.
fn kill_worker(server: &Server) -> Result<()> {
    let id = server.process_id().context("the server is not running")?;
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let mut workers: Vec<i32> = children.split_whitespace().filter_map(|id| id.parse().ok()).collect();
    for task in fs::read_dir(format!("/proc/{id}/task"))?.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        workers.extend(children.split_whitespace().filter_map(|id| id.parse::<i32>().ok()));
    }
    if let Some(worker) = workers.into_iter().max().and_then(Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = kill_process(worker, Signal::KILL);
    }
    Ok(())
}

/// Kills a backend process of PostgreSQL, which then ends all others and recovers from its WAL as after a crash.
async fn kill_postgres(url: &str) -> Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    let process: Option<i32> = sqlx::query_scalar(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'qala' ORDER BY backend_start LIMIT 1",
    )
    .fetch_optional(&mut connection)
    .await?;
    if let Some(process) = process.and_then(Pid::from_raw) {
        kill_process(process, Signal::KILL)?;
    }
    Ok(())
}
