//! Memory of the server while apps read responses that are short on the wire and long once they are decoded.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use ::tests::{Server, ServerOptions};
use anyhow::{Context as _, Result, ensure};
use futures::future::try_join_all;
use http::Method;
use tokio::time::{Instant, sleep};
use xtask::shell::Progress;

use super::{fairness::resident_kilobytes, fetch};
use crate::rounds::{ROUNDS, millis};

/// Visits at once.
const VISITORS: usize = 8;
/// Time between two looks at the memory.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(2);

/// Begins to read sixteen such responses, and holds them for a second.
const SOURCE: &str = r#"
export default { async fetch(request, env) {
  const begin = async () => {
    const response = await env.connections.crm.fetch("/?form=zeros");
    const reader = response.body.getReader();
    if ((await reader.read()).done) throw new Error("an empty response");
    return reader;
  };
  const readers = await Promise.all(Array.from({ length: 16 }, begin));
  await new Promise((done) => setTimeout(done, 1000));
  await Promise.all(readers.map((reader) => reader.cancel()));
  return new Response(String(readers.length));
} };"#;

pub(crate) async fn run(server: ServerOptions, progress: &Progress) -> Result<()> {
    let (service, server) = fetch::start_beside_service(server).await?;
    let process = server.process_id().context("the server is not running")?;
    let path = fetch::create_app(&server, &service, SOURCE).await?;
    visit(&server, &path).await?;
    let before = resident_kilobytes(process)?;
    let peak = Arc::new(AtomicU64::new(before));
    let done = Arc::new(AtomicBool::new(false));
    let sampler = {
        let (peak, done) = (Arc::clone(&peak), Arc::clone(&done));
        tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(resident_kilobytes(process)?, Ordering::Relaxed);
                sleep(SAMPLE_INTERVAL).await;
            }
            anyhow::Ok(())
        })
    };
    let health = tokio::spawn(health_times(server.base_url().to_owned(), Arc::clone(&done)));
    for round in 1..=ROUNDS {
        progress.report(format!("round {round} of {ROUNDS}"));
        try_join_all((0..VISITORS).map(|_| visit(&server, &path))).await?;
    }
    done.store(true, Ordering::Relaxed);
    let mut times = health.await??;
    times.sort_unstable();
    sampler.await??;
    let longest = times.last().copied().unwrap_or_default();
    let p95 = times.get(times.len() * 95 / 100).copied().unwrap_or_default();
    println!("resident memory of the server's main process: {} MB before", before / 1000);
    println!(
        "  at most {} MB with {VISITORS} visits of 16 responses of 9.9 MB",
        peak.load(Ordering::Relaxed) / 1000
    );
    println!("/healthz beside them: p95 {}, at most {}", millis(p95), millis(longest));
    Ok(())
}

async fn visit(server: &Server, path: &str) -> Result<()> {
    let response = server.client().request(Method::GET, path).send().await?;
    ensure!(response.status == 200 && response.body == "16", "the app responded {response:?}");
    Ok(())
}

/// Asks for `/healthz` every ten milliseconds, and returns how long each response took.
async fn health_times(base_url: String, done: Arc<AtomicBool>) -> Result<Vec<Duration>> {
    let address = base_url.trim_start_matches("http://").to_owned();
    let requests = crate::api::healthz();
    let mut connection = crate::connection::Connection::open(address).await?;
    let mut times = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let begun = Instant::now();
        connection.send(&requests(0)?).await?;
        times.push(begun.elapsed());
        sleep(Duration::from_millis(10)).await;
    }
    Ok(times)
}
