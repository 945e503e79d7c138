//! A constant rate of 1,000 deliveries per second: the time from the acceptance of each to the end of its run.

use std::time::{Duration, Instant};

use ::tests::Server;
use anyhow::{Result, ensure};
use tokio::{task::JoinSet, time};
use xtask::shell::Progress;

use crate::{
    Options, api,
    connection::Connection,
    figures,
    load::{self, RequestFactory},
    rounds::millis,
};

/// Deliveries per second.
const RATE: u64 = 1_000;
/// Time before the measurement, in which connections open and workers start.
const WARM_UP: Duration = Duration::from_secs(2);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let workspace = api::BenchWorkspace::create(server).await?;
    let address = server.base_url().trim_start_matches("http://");
    let (requests, started_at) = (workspace.webhook_requests(), Instant::now());
    progress.report("warming up");
    let warm_up = send_at_rate(
        address,
        &requests,
        0,
        ConstantRateLoad { requests_per_second: RATE, duration: WARM_UP, connections: options.connections },
    )
    .await?;
    progress.report(format!("{RATE} deliveries per second for {} seconds", options.seconds));
    let load = ConstantRateLoad {
        requests_per_second: RATE,
        duration: Duration::from_secs(options.seconds),
        connections: options.connections,
    };
    let mut accepts = send_at_rate(address, &requests, warm_up.len() as u64, load).await?;
    progress.report("waiting for the runs to finish");
    let accepted = (warm_up.len() + accepts.len()) as u64;
    let row = figures::wait_for_runs(&workspace, 0..accepted, started_at).await?;
    let mut run_times = workspace.run_times().await?;
    ensure!(
        run_times.len() as u64 == accepted,
        "{accepted} runs were accepted, but {} are listed",
        run_times.len()
    );
    // Newest first.
    run_times.truncate(run_times.len() - warm_up.len());
    let count = accepts.len();
    println!("{:<28} {:>9} {:>9} {:>9}", format!("{count} deliveries"), "p50", "p99", "max");
    for (name, times) in [("accepted", &mut accepts), ("accepted to finished", &mut run_times)] {
        let at = |times: &mut Vec<Duration>, percent| {
            load::percentile(times, percent).map(millis).unwrap_or_default()
        };
        println!("{name:<28} {:>9} {:>9} {:>9}", at(times, 50), at(times, 99), at(times, 100));
    }
    println!("all {accepted} deliveries are finished runs; {}", row.value);
    Ok(())
}

/// An open-loop load: a late request is sent at once, and its delay counts.
#[derive(Clone, Copy)]
pub(super) struct ConstantRateLoad {
    /// Requests per second over all connections.
    pub(super) requests_per_second: u64,
    pub(super) duration: Duration,
    pub(super) connections: usize,
}

/// Sends requests at a constant rate, starting with number `first`, and returns the time of each from when it was due.
pub(super) async fn send_at_rate(
    address: &str,
    requests: &RequestFactory,
    first: u64,
    load: ConstantRateLoad,
) -> Result<Vec<Duration>> {
    let started_at = time::Instant::now();
    let count = load.requests_per_second * load.duration.as_secs();
    let mut senders = JoinSet::new();
    for connection_number in 0..load.connections as u64 {
        let (address, requests) = (address.to_owned(), requests.clone());
        senders.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut times = Vec::new();
            for number in (connection_number..count).step_by(load.connections) {
                let due_at =
                    started_at + Duration::from_secs_f64(number as f64 / load.requests_per_second as f64);
                let request = requests(first + number)?;
                time::sleep_until(due_at).await;
                connection.send(&request).await?;
                times.push(due_at.elapsed());
            }
            anyhow::Ok(times)
        });
    }
    let mut all = Vec::new();
    while let Some(times) = senders.join_next().await {
        all.extend(times??);
    }
    Ok(all)
}
