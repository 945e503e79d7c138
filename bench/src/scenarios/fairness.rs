//! Latency of a quiet workspace, alone and beside a hostile one that uses up every resource it can: visits and runs
//! that sleep and compute, huge responses, floods of log lines and rows, slow regular expressions.
//!
//! The default rate limits apply unless `--no-rate-limits` lifts them, because they are part of the isolation. Visitors
//! of the quiet workspace have many addresses, as people do; each connection of the hostile one has its own address.

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

/// Network of the visitors of the quiet workspace (TEST-NET-3, RFC 5737).
const QUIET_NETWORK: [u8; 3] = [203, 0, 113];
/// Connections of the quiet workspace.
const QUIET_CONNECTIONS: usize = 2;
/// Time between two requests of a connection, which makes 100 requests per second in all. A client that sends as fast
/// as responses arrive would use most of a small machine.
const REQUEST_INTERVAL: Duration = Duration::from_millis(20);
/// Time for the hostile load to take effect before the measurement.
const HOSTILE_WARM_UP: Duration = Duration::from_secs(3);

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    progress.report("creating a quiet and a hostile workspace");
    let quiet = api::BenchWorkspace::create(server).await?;
    let (page, rows, health) = (quiet.page().await?, quiet.row_by_id(), api::healthz());
    let (page, rows) = (from_addresses(&page, QUIET_NETWORK, 250), from_addresses(&rows, QUIET_NETWORK, 250));
    let figures = [("response of an app", &page), ("row by id", &rows), ("/healthz", &health)];
    let hostile = api::hostile_loads(server).await?;
    let address = server.base_url().trim_start_matches("http://").to_owned();
    let plan = LoadPlan {
        connections: QUIET_CONNECTIONS,
        duration: Duration::from_secs(options.seconds),
        interval: Some(REQUEST_INTERVAL),
    };

    let mut alone = Vec::new();
    for (name, requests) in figures {
        progress.report(format!("{name}, alone"));
        alone.push(load::run(&address, plan, requests).await.context(name)?.p99);
    }
    // On separate threads, so that the client of the hostile workspace does not delay the client of the quiet one.
    let flood = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (load, (connections, requests)) in (0_u8..).zip(hostile) {
        // `send_forever` numbers requests so that each connection keeps its address.
        let requests = from_addresses(&requests, [198, 18, load], connections);
        for first in 0..connections {
            flood.spawn(send_forever(address.clone(), Arc::clone(&requests), first, connections));
        }
    }
    sleep(HOSTILE_WARM_UP).await;
    let mut beside = Vec::new();
    for (name, requests) in figures {
        progress.report(format!("{name}, beside the hostile workspace"));
        beside.push(load::run(&address, plan, requests).await.context(name)?.p99);
    }
    let resident = resident_kilobytes(server.process_id().context("the server is not running")?)?;
    flood.shutdown_background();

    println!("\n{:<20} {:>12} {:>12} {:>7}", "p99", "alone", "beside", "ratio");
    for ((name, _), (alone, beside)) in figures.iter().zip(alone.into_iter().zip(beside)) {
        let ratio = beside.as_secs_f64() / alone.as_secs_f64();
        println!("{name:<20} {:>12} {:>12} {ratio:>7.2}", millis(alone), millis(beside));
    }
    println!("resident memory of the server's main process: {} MB", resident / 1000);
    Ok(())
}

/// Sets the client address of each request to one of `count` addresses of a network, in the order of request numbers.
fn from_addresses(requests: &RequestFactory, network: [u8; 3], count: u64) -> RequestFactory {
    let (requests, [a, b, c]) = (Arc::clone(requests), network);
    Arc::new(move |number| {
        let mut request = requests(number)?;
        let address = format!("{a}.{b}.{c}.{}", number % count);
        request.headers_mut().insert("x-forwarded-for", HeaderValue::try_from(address)?);
        Ok(request)
    })
}

/// Sends requests whatever the response, and reconnects when the connection ends.
async fn send_forever(address: String, requests: RequestFactory, first: u64, step: u64) {
    let mut number = first;
    loop {
        let started_at = Instant::now();
        if let Ok(mut connection) = Connection::open(address.clone()).await {
            loop {
                let Ok(request) = requests(number) else { return };
                number += step;
                if connection.send(&request).await.is_err() {
                    break;
                }
            }
        }
        // Without a delay, requests that are rejected at once would become a flood of connections.
        sleep(Duration::from_millis(20).saturating_sub(started_at.elapsed())).await;
    }
}

pub(super) fn resident_kilobytes(process: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.split_whitespace().next().context("VmRSS has no value")?.parse()?)
}
