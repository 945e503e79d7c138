//! A hundred workspaces, one of which floods: how long the runs of the quiet ones take.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ::tests::{Client, Server, eventually_within};
use anyhow::{Context as _, Result, ensure};
use tokio::task::JoinSet;
use xtask::shell::Progress;

use super::pace::{self, ConstantRateLoad};
use crate::{
    Options, api,
    connection::Connection,
    load::{self, RequestFactory},
    rounds::millis,
};

const WORKSPACES: usize = 100;
/// Deliveries a second of all quiet ones together.
const QUIET_RATE: u64 = 100;
/// Connections of the one that floods, each with a delivery under way at every moment.
const FLOOD_CONNECTIONS: usize = 8;
/// How long what the flood left may take.
const DRAIN_DEADLINE: Duration = Duration::from_secs(600);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let mut workspaces = Vec::new();
    for number in 0..WORKSPACES {
        if number % 10 == 0 {
            progress.report(format!("making workspace {number} of {WORKSPACES}"));
        }
        workspaces.push(api::WebhookWorkspace::create(&owner, number).await?);
    }
    let noisy = workspaces.pop().context("there are workspaces")?;
    let quiet: Vec<RequestFactory> = workspaces.iter().map(api::WebhookWorkspace::webhook_requests).collect();
    let maker: RequestFactory = Arc::new(move |number| {
        let turn = usize::try_from(number)? % quiet.len();
        quiet.get(turn).context("there are workspaces")?(number)
    });
    let address = server.base_url().trim_start_matches("http://");
    let pace = ConstantRateLoad {
        requests_per_second: QUIET_RATE,
        duration: Duration::from_secs(options.seconds),
        connections: 4,
    };
    let sent = pace.requests_per_second * options.seconds;

    progress.report("warming up");
    pace::send_at_rate(address, &maker, 0, pace).await?;
    wait_for_all_runs(&owner, &workspaces, sent).await?;
    progress.report("the quiet ones alone");
    pace::send_at_rate(address, &maker, sent, pace).await?;
    let idle = run_times_after(&owner, &workspaces, sent).await?;

    progress.report("the quiet ones beside a flood");
    let is_stopped = Arc::new(AtomicBool::new(false));
    let mut flood = JoinSet::new();
    for turn in 0..FLOOD_CONNECTIONS as u64 {
        let (address, maker, over) = (address.to_owned(), noisy.webhook_requests(), Arc::clone(&is_stopped));
        flood.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut accepted = 0_u64;
            for number in (turn..).step_by(FLOOD_CONNECTIONS) {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                connection.send(&maker(number)?).await?;
                accepted += 1;
            }
            anyhow::Ok(accepted)
        });
    }
    pace::send_at_rate(address, &maker, sent * 2, pace).await?;
    is_stopped.store(true, Ordering::Relaxed);
    let mut flooded = 0;
    while let Some(accepted) = flood.join_next().await {
        flooded += accepted??;
    }
    let left = noisy.health(&owner).await?.unfinished;
    let beside = run_times_after(&owner, &workspaces, sent * 2).await?;
    println!("{:<44} {:>9} {:>9}", format!("accepted to finished, {sent} quiet runs"), "p50", "p99");
    let mut p99s = Vec::new();
    for (name, mut times) in [
        ("nobody else".to_owned(), idle),
        (format!("beside a flood of {flooded}, {left} unfinished"), beside),
    ] {
        let p50 = load::percentile(&mut times, 50).context("there were runs")?;
        let p99 = load::percentile(&mut times, 99).context("there were runs")?;
        println!("{name:<44} {:>9} {:>9}", millis(p50), millis(p99));
        p99s.push(p99.as_secs_f64());
    }
    println!(
        "p99 ratio {:.2}",
        p99s.iter().rev().copied().reduce(|beside, idle| beside / idle).unwrap_or_default()
    );
    progress.report("waiting for what the flood left");
    wait_for_all_runs(&owner, std::slice::from_ref(&noisy), flooded).await
}

/// Waits until all runs are finished, and looks whether they are as many as were accepted.
async fn wait_for_all_runs(
    owner: &Client,
    workspaces: &[api::WebhookWorkspace],
    accepted: u64,
) -> Result<()> {
    eventually_within(DRAIN_DEADLINE, "the runs finish", async || {
        let mut succeeded = 0;
        for workspace in workspaces {
            let health = workspace.health(owner).await?;
            ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
            succeeded += health.succeeded;
        }
        ensure!(succeeded == accepted, "{accepted} were accepted and {succeeded} have finished");
        Ok(())
    })
    .await
}

/// How long every run took but the first `before`, over all roads.
async fn run_times_after(
    owner: &Client,
    workspaces: &[api::WebhookWorkspace],
    before: u64,
) -> Result<Vec<Duration>> {
    eventually_within(DRAIN_DEADLINE, "the quiet runs finish", async || {
        for workspace in workspaces {
            let health = workspace.health(owner).await?;
            ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
        }
        Ok(())
    })
    .await?;
    let mut runs = Vec::new();
    for workspace in workspaces {
        runs.extend(api::run_times(owner, &workspace.id).await?);
    }
    runs.sort_by_key(|run| run.accepted_at);
    let before = usize::try_from(before)?;
    Ok(runs.into_iter().skip(before).map(|run| run.duration).collect())
}
