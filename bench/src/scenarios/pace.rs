//! A steady thousand deliveries a second: how long from the acceptance of each to the end of its run.

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

/// Deliveries a second.
const RATE: u64 = 1_000;
/// The first ones are not counted: connections open, and workers start.
const WARM_UP: Duration = Duration::from_secs(2);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let world = api::BenchWorkspace::create(server).await?;
    let address = server.base_url().trim_start_matches("http://");
    let (maker, since) = (world.webhook_requests(), Instant::now());
    progress.report("warming up");
    let early = send_at_rate(
        address,
        &maker,
        0,
        ConstantRateLoad { requests_per_second: RATE, duration: WARM_UP, connections: options.connections },
    )
    .await?;
    progress.report(format!("{RATE} deliveries a second for {} seconds", options.seconds));
    let pace = ConstantRateLoad {
        requests_per_second: RATE,
        duration: Duration::from_secs(options.seconds),
        connections: options.connections,
    };
    let mut accepts = send_at_rate(address, &maker, early.len() as u64, pace).await?;
    progress.report("waiting for the runs to finish");
    let accepted = (early.len() + accepts.len()) as u64;
    let line = figures::wait_for_runs(&world, 0..accepted, since).await?;
    let mut whole = world.run_times().await?;
    ensure!(whole.len() as u64 == accepted, "{accepted} were accepted, and {} are listed", whole.len());
    // Newest first.
    whole.truncate(whole.len() - early.len());
    let count = accepts.len();
    println!("{:<28} {:>9} {:>9} {:>9}", format!("{count} deliveries"), "p50", "p99", "most");
    for (name, times) in [("accepted", &mut accepts), ("accepted to finished", &mut whole)] {
        let at = |times: &mut Vec<Duration>, percent| {
            load::percentile(times, percent).map(millis).unwrap_or_default()
        };
        println!("{name:<28} {:>9} {:>9} {:>9}", at(times, 50), at(times, 99), at(times, 100));
    }
    println!("every one of {accepted} is one finished run; {}", line.value);
    Ok(())
}

/// An open load: what is late is sent at once, and its wait counts.
#[derive(Clone, Copy)]
pub(super) struct ConstantRateLoad {
    /// Requests a second, over all connections.
    pub(super) requests_per_second: u64,
    pub(super) duration: Duration,
    pub(super) connections: usize,
}

/// Sends at a pace, beginning with request number `first`; how long each took from the moment it was due.
pub(super) async fn send_at_rate(
    address: &str,
    maker: &RequestFactory,
    first: u64,
    pace: ConstantRateLoad,
) -> Result<Vec<Duration>> {
    let begins = time::Instant::now();
    let count = pace.requests_per_second * pace.duration.as_secs();
    let mut senders = JoinSet::new();
    for turn in 0..pace.connections as u64 {
        let (address, maker) = (address.to_owned(), maker.clone());
        senders.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut took = Vec::new();
            for number in (turn..count).step_by(pace.connections) {
                let due = begins + Duration::from_secs_f64(number as f64 / pace.requests_per_second as f64);
                let request = maker(first + number)?;
                time::sleep_until(due).await;
                connection.send(&request).await?;
                took.push(due.elapsed());
            }
            anyhow::Ok(took)
        });
    }
    let mut all = Vec::new();
    while let Some(took) = senders.join_next().await {
        all.extend(took??);
    }
    Ok(all)
}
