//! A hundred workspaces, one of which sends as fast as it can: how long the runs of the quiet ones take.

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
/// Deliveries per second of all quiet workspaces together.
const QUIET_RATE: u64 = 100;
/// Connections of the noisy workspace, each of which always has a delivery in flight.
const FLOOD_CONNECTIONS: usize = 8;
/// Limit for the runs of the flood to finish.
const DRAIN_DEADLINE: Duration = Duration::from_secs(600);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let mut workspaces = Vec::new();
    for number in 0..WORKSPACES {
        if number % 10 == 0 {
            progress.report(format!("creating workspace {number} of {WORKSPACES}"));
        }
        workspaces.push(api::WebhookWorkspace::create(&owner, number).await?);
    }
    let noisy = workspaces.pop().context("there are no workspaces")?;
    let quiet: Vec<RequestFactory> = workspaces.iter().map(api::WebhookWorkspace::webhook_requests).collect();
    let requests: RequestFactory = Arc::new(move |number| {
        let index = usize::try_from(number)? % quiet.len();
        quiet.get(index).context("there are no workspaces")?(number)
    });
    let address = server.base_url().trim_start_matches("http://");
    let load = ConstantRateLoad {
        requests_per_second: QUIET_RATE,
        duration: Duration::from_secs(options.seconds),
        connections: 4,
    };
    let sent = load.requests_per_second * options.seconds;

    progress.report("warming up");
    pace::send_at_rate(address, &requests, 0, load).await?;
    wait_for_all_runs(&owner, &workspaces, sent).await?;
    progress.report("the quiet workspaces alone");
    pace::send_at_rate(address, &requests, sent, load).await?;
    let idle = run_times_after(&owner, &workspaces, sent).await?;

    progress.report("the quiet workspaces beside a flood");
    let is_stopped = Arc::new(AtomicBool::new(false));
    let mut flood = JoinSet::new();
    for connection_number in 0..FLOOD_CONNECTIONS as u64 {
        let (address, requests, is_stopped) =
            (address.to_owned(), noisy.webhook_requests(), Arc::clone(&is_stopped));
        flood.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut accepted = 0_u64;
            for number in (connection_number..).step_by(FLOOD_CONNECTIONS) {
                if is_stopped.load(Ordering::Relaxed) {
                    break;
                }
                connection.send(&requests(number)?).await?;
                accepted += 1;
            }
            anyhow::Ok(accepted)
        });
    }
    pace::send_at_rate(address, &requests, sent * 2, load).await?;
    is_stopped.store(true, Ordering::Relaxed);
    let mut flooded = 0;
    while let Some(accepted) = flood.join_next().await {
        flooded += accepted??;
    }
    let left = noisy.health(&owner).await?.unfinished;
    let beside = run_times_after(&owner, &workspaces, sent * 2).await?;
    println!("{:<44} {:>9} {:>9}", format!("accepted to finished, {sent} quiet runs"), "p50", "p99");
    let mut p99s = Vec::new();
    for (name, mut times) in
        [("alone".to_owned(), idle), (format!("beside a flood of {flooded}, {left} unfinished"), beside)]
    {
        let p50 = load::percentile(&mut times, 50).context("there were no runs")?;
        let p99 = load::percentile(&mut times, 99).context("there were no runs")?;
        println!("{name:<44} {:>9} {:>9}", millis(p50), millis(p99));
        p99s.push(p99.as_secs_f64());
    }
    println!(
        "p99 ratio {:.2}",
        p99s.iter().rev().copied().reduce(|beside, idle| beside / idle).unwrap_or_default()
    );
    progress.report("waiting for the runs of the flood");
    wait_for_all_runs(&owner, std::slice::from_ref(&noisy), flooded).await
}

/// Waits until all runs are finished, and checks that they are as many as were accepted.
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
        ensure!(succeeded == accepted, "{accepted} runs were accepted, but {succeeded} have succeeded");
        Ok(())
    })
    .await
}

/// Returns the duration of every run of all workspaces, except the first `before` runs.
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
