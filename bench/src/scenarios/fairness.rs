//! A quiet workspace alone, and beside one that takes whatever it can get: visits and runs that sleep and compute, huge
//! answers, floods of log and rows, slow regular expressions.
//!
//! Rate limits are as shipped, unless `--no-rate-limits` lifts them: they are part of what keeps a neighbour from the
//! others' share. Visitors of the quiet one come from many addresses, as people do; each connection of the hostile one has
//! an address of its own.

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use ::tests::Server;
use anyhow::{Context as _, Result};
use tokio::time::sleep;
use xtask::shell::Progress;

use http::HeaderValue;

use crate::{
    Options, api,
    connection::Connection,
    load::{self, LoadPlan, RequestFactory},
    rounds::millis,
};

/// Network of the visitors of the quiet workspace (RFC 5737).
const QUIET_NETWORK: [u8; 3] = [203, 0, 113];
/// Connections of the quiet workspace.
const QUIET_CONNECTIONS: usize = 2;
/// Time between two requests of each of them: 100 requests a second in all. One that sends as fast as it is answered uses most of a
/// small machine, and is not quiet.
const REQUEST_INTERVAL: Duration = Duration::from_millis(20);
/// How long the hostile one may take hold before anything is measured.
const HOSTILE_WARM_UP: Duration = Duration::from_secs(3);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    progress.report("making a quiet and a hostile workspace");
    let quiet = api::BenchWorkspace::create(server).await?;
    let (page, rows, health) = (quiet.page().await?, quiet.row_by_id(), api::healthz());
    let (page, rows) = (from_addresses(&page, QUIET_NETWORK, 250), from_addresses(&rows, QUIET_NETWORK, 250));
    let figures = [("answer of an app", &page), ("row by id", &rows), ("/healthz", &health)];
    let hostile = api::hostile_loads(server).await?;
    let address = server.base_url().trim_start_matches("http://").to_owned();
    let plan = LoadPlan {
        connections: QUIET_CONNECTIONS,
        duration: Duration::from_secs(options.seconds),
        interval: Some(REQUEST_INTERVAL),
    };

    let mut alone = Vec::new();
    for (name, maker) in figures {
        progress.report(format!("{name}, alone"));
        alone.push(load::run(&address, plan, maker).await.context(name)?.p99);
    }
    // On threads of its own: what the hostile one's client computes must not delay the quiet one's.
    let flood = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (load, (connections, maker)) in (0_u8..).zip(hostile) {
        // A request's number tells its connection, see below.
        let maker = from_addresses(&maker, [198, 18, load], connections);
        for first in 0..connections {
            flood.spawn(send_forever(address.clone(), Arc::clone(&maker), first, connections));
        }
    }
    sleep(HOSTILE_WARM_UP).await;
    let mut beside = Vec::new();
    for (name, maker) in figures {
        progress.report(format!("{name}, beside the hostile one"));
        beside.push(load::run(&address, plan, maker).await.context(name)?.p99);
    }
    let resident = resident_kilobytes(server.process_id().context("the server runs")?)?;
    flood.shutdown_background();

    println!("\n{:<20} {:>12} {:>12} {:>7}", "p99", "alone", "beside", "ratio");
    for ((name, _), (alone, beside)) in figures.iter().zip(alone.into_iter().zip(beside)) {
        let ratio = beside.as_secs_f64() / alone.as_secs_f64();
        println!("{name:<20} {:>12} {:>12} {ratio:>7.2}", millis(alone), millis(beside));
    }
    println!("resident memory of the server's main process: {} MB", resident / 1000);
    Ok(())
}

/// Names one of `count` addresses of a network as the client of each request, in the order of their numbers.
fn from_addresses(maker: &RequestFactory, network: [u8; 3], count: u64) -> RequestFactory {
    let (maker, [a, b, c]) = (Arc::clone(maker), network);
    Arc::new(move |number| {
        let mut request = maker(number)?;
        let address = format!("{a}.{b}.{c}.{}", number % count);
        request.headers_mut().insert("x-forwarded-for", HeaderValue::try_from(address)?);
        Ok(request)
    })
}

/// Sends whatever is answered, and begins again when the connection ends.
async fn send_forever(address: String, maker: RequestFactory, first: u64, step: u64) {
    let mut number = first;
    loop {
        let begun = Instant::now();
        if let Ok(mut connection) = Connection::open(address.clone()).await {
            loop {
                let Ok(request) = maker(number) else { return };
                number += step;
                if connection.send(&request).await.is_err() {
                    break;
                }
            }
        }
        // What is refused at once would otherwise be a flood of connections and nothing else.
        sleep(Duration::from_millis(20).saturating_sub(begun.elapsed())).await;
    }
}

fn resident_kilobytes(process: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.split_whitespace().next().context("a number")?.parse()?)
}
