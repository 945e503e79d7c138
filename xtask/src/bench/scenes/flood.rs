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

use super::pace::{self, Pace};
use crate::{
    bench::{
        Options, api,
        connection::Connection,
        load::{self, Maker},
        rounds::millis,
    },
    shell::Progress,
};

const WORKSPACES: usize = 100;
/// Deliveries a second of all quiet ones together.
const QUIET: u64 = 100;
/// Connections of the one that floods, each with a delivery under way at every moment.
const FLOODING: usize = 8;
/// How long what the flood left may take.
const DRAIN_DEADLINE: Duration = Duration::from_secs(600);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let owner = server.sign_in("bench@example.test").await?;
    let mut worlds = Vec::new();
    for number in 0..WORKSPACES {
        if number % 10 == 0 {
            progress.say(format!("making workspace {number} of {WORKSPACES}"));
        }
        worlds.push(api::Road::make(&owner, number).await?);
    }
    let noisy = worlds.pop().context("there are workspaces")?;
    let quiet: Vec<Maker> = worlds.iter().map(api::Road::webhook).collect();
    let maker: Maker = Arc::new(move |number| {
        let turn = usize::try_from(number)? % quiet.len();
        quiet.get(turn).context("there are workspaces")?(number)
    });
    let address = server.base_url().trim_start_matches("http://");
    let pace = Pace { rate: QUIET, lasts: Duration::from_secs(options.seconds), connections: 4 };
    let sent = pace.rate * options.seconds;

    progress.say("warming up");
    pace::send(address, &maker, 0, pace).await?;
    finished(&owner, &worlds, sent).await?;
    progress.say("the quiet ones alone");
    pace::send(address, &maker, sent, pace).await?;
    let idle = times_since(&owner, &worlds, sent).await?;

    progress.say("the quiet ones beside a flood");
    let over = Arc::new(AtomicBool::new(false));
    let mut flood = JoinSet::new();
    for turn in 0..FLOODING as u64 {
        let (address, maker, over) = (address.to_owned(), noisy.webhook(), Arc::clone(&over));
        flood.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut accepted = 0_u64;
            for number in (turn..).step_by(FLOODING) {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                connection.send(&maker(number)?).await?;
                accepted += 1;
            }
            anyhow::Ok(accepted)
        });
    }
    pace::send(address, &maker, sent * 2, pace).await?;
    over.store(true, Ordering::Relaxed);
    let mut flooded = 0;
    while let Some(accepted) = flood.join_next().await {
        flooded += accepted??;
    }
    let left = noisy.health(&owner).await?.unfinished;
    let beside = times_since(&owner, &worlds, sent * 2).await?;
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
    progress.say("waiting for what the flood left");
    finished(&owner, std::slice::from_ref(&noisy), flooded).await
}

/// Waits until all runs are finished, and looks whether they are as many as were accepted.
async fn finished(owner: &Client, roads: &[api::Road], accepted: u64) -> Result<()> {
    eventually_within(DRAIN_DEADLINE, "the runs finish", async || {
        let mut succeeded = 0;
        for road in roads {
            let health = road.health(owner).await?;
            ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
            succeeded += health.succeeded;
        }
        ensure!(succeeded == accepted, "{accepted} were accepted and {succeeded} have finished");
        Ok(())
    })
    .await
}

/// How long every run took but the first `before`, over all roads.
async fn times_since(owner: &Client, roads: &[api::Road], before: u64) -> Result<Vec<Duration>> {
    eventually_within(DRAIN_DEADLINE, "the quiet runs finish", async || {
        for road in roads {
            let health = road.health(owner).await?;
            ensure!(health.unfinished == 0, "{} runs are not finished", health.unfinished);
        }
        Ok(())
    })
    .await?;
    let mut runs = Vec::new();
    for road in roads {
        runs.extend(api::run_times(owner, &road.workspace).await?);
    }
    runs.sort_by_key(|run| run.accepted_at);
    let before = usize::try_from(before)?;
    Ok(runs.into_iter().skip(before).map(|run| run.took).collect())
}
