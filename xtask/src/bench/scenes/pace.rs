//! A steady thousand deliveries a second: how long from the acceptance of each to the end of its run.

use std::time::{Duration, Instant};

use ::tests::Server;
use anyhow::{Result, ensure};
use tokio::{task::JoinSet, time};

use crate::{
    bench::{
        Options, api,
        connection::Connection,
        figures,
        load::{self, Maker},
        rounds::millis,
    },
    shell::Progress,
};

/// Deliveries a second.
const RATE: u64 = 1_000;
/// The first ones are not counted: connections open, and workers start.
const WARM_UP: Duration = Duration::from_secs(2);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let world = api::World::make(server).await?;
    let address = server.base_url().trim_start_matches("http://");
    let (maker, since) = (world.webhook(), Instant::now());
    progress.say("warming up");
    let early =
        send(address, &maker, 0, Pace { rate: RATE, lasts: WARM_UP, connections: options.connections })
            .await?;
    progress.say(format!("{RATE} deliveries a second for {} seconds", options.seconds));
    let pace =
        Pace { rate: RATE, lasts: Duration::from_secs(options.seconds), connections: options.connections };
    let mut accepts = send(address, &maker, early.len() as u64, pace).await?;
    progress.say("waiting for the runs to finish");
    let accepted = (early.len() + accepts.len()) as u64;
    let line = figures::runs_finished(&world, 0..accepted, since).await?;
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
pub(super) struct Pace {
    /// Requests a second, over all connections.
    pub(super) rate: u64,
    pub(super) lasts: Duration,
    pub(super) connections: usize,
}

/// Sends at a pace, beginning with request number `first`; how long each took from the moment it was due.
pub(super) async fn send(address: &str, maker: &Maker, first: u64, pace: Pace) -> Result<Vec<Duration>> {
    let begins = time::Instant::now();
    let count = pace.rate * pace.lasts.as_secs();
    let mut senders = JoinSet::new();
    for turn in 0..pace.connections as u64 {
        let (address, maker) = (address.to_owned(), maker.clone());
        senders.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut took = Vec::new();
            for number in (turn..count).step_by(pace.connections) {
                let due = begins + Duration::from_secs_f64(number as f64 / pace.rate as f64);
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
