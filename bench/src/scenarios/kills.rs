//! `kill -9` in twenty rounds under load: of the server, of a process that runs app code, of PostgreSQL.

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
enum Victim {
    Server,
    Worker,
    Postgres,
}

pub(super) async fn run(server: &mut Server, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let workspace = api::WebhookWorkspace::create(&owner, 0).await?;
    let mut senders = Senders::new();
    senders.start(workspace.webhook(), SENDERS);
    let victims: &[Victim] = match server.database_url() {
        None => &[Victim::Server, Victim::Worker],
        Some(_) => &[Victim::Server, Victim::Worker, Victim::Postgres],
    };
    for (round, victim) in (1..=ROUNDS).zip(victims.iter().copied().cycle()) {
        // Spread over everything the server does in a second and a half, and the same in every run.
        sleep(Duration::from_millis(100 + round * 7919 % 1400)).await;
        progress.report(format!("round {round} of {ROUNDS}: {victim:?}"));
        match victim {
            Victim::Server => {
                server.kill()?;
                server.restart().await?;
            }
            Victim::Worker => kill_worker(server)?,
            Victim::Postgres => kill_postgres(server.database_url().context("it is on PostgreSQL")?).await?,
        }
        eventually("the server is ready", async || api::check_ready(server).await).await?;
    }
    progress.report("waiting for the runs to finish");
    report(&senders.reconcile(&owner, &workspace.id).await?);
    Ok(())
}

/// Prints what came of everything.
pub(super) fn report(account: &DeliveryReport) {
    let DeliveryReport { sent, accepted, succeeded, failed } = account;
    println!(
        "{sent} calls, {accepted} accepted, none lost; {succeeded} runs succeeded, {failed} failed, each ended once"
    );
}

/// Kills the youngest child of the server: a process that runs app code, or is about to.
fn kill_worker(server: &Server) -> Result<()> {
    let id = server.process_id().context("the server runs")?;
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let mut workers: Vec<i32> = children.split_whitespace().filter_map(|id| id.parse().ok()).collect();
    for task in fs::read_dir(format!("/proc/{id}/task"))?.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        workers.extend(children.split_whitespace().filter_map(|id| id.parse::<i32>().ok()));
    }
    if let Some(worker) = workers.into_iter().max().and_then(Pid::from_raw) {
        // It may have ended by itself since.
        let _ = kill_process(worker, Signal::KILL);
    }
    Ok(())
}

/// Kills a server process of PostgreSQL. It then ends all others, and recovers from its log as after a power failure.
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
