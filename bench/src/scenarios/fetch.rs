//! Requests of an app through a connection, to a service on loopback over TLS.

use std::time::{Duration, Instant};

use ::tests::{Client, EchoService, Server, ServerOptions};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use http::Method;
use serde_json::json;
use xtask::shell::Progress;

use crate::{
    RateLimits,
    rounds::{ROUNDS, median_value},
    start_for_bench,
};

/// Requests of one invocation to the service, one after the other.
const REQUESTS: u32 = 200;
/// Invocations at once.
const VISITORS: [usize; 2] = [1, 8];
/// Invocations of one visitor in a round.
const INVOCATIONS: u32 = 10;

const SOURCE: &str = r#"
export default { async fetch(request, env) {
  const count = Number(new URL(request.url).searchParams.get("count"));
  for (let sent = 0; sent < count; sent++) {
    const response = await env.connections.crm.fetch("/orders?limit=1");
    if (response.status !== 200 || !(await response.text()).startsWith("GET ")) throw new Error("another response");
  }
  return new Response("done");
} };"#;

pub(crate) async fn run(server: ServerOptions, progress: &Progress) -> Result<()> {
    let (service, server) = start_beside_service(server).await?;
    let path = create_app(&server, &service, SOURCE).await?;
    let visitor = server.client();
    invoke(&visitor, &path, 1).await?;
    println!("{:<28} {:>12} {:>22}", "invocations at once", "requests", "time of one request");
    for visitors in VISITORS {
        let (mut rates, mut times) = (Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            progress.report(format!("{visitors} at once, round {round} of {ROUNDS}"));
            let empty = time_of(&visitor, &path, visitors, 0).await?;
            let full = time_of(&visitor, &path, visitors, REQUESTS).await?;
            // Without what the invocations themselves take.
            let sent = f64::from(INVOCATIONS * REQUESTS);
            let spent = full.saturating_sub(empty).as_secs_f64();
            times.push(spent / sent * 1e6);
            rates.push(sent * visitors as f64 / spent);
            let _received = service.take_received();
        }
        println!("{visitors:<28} {:>10.0}/s {:>19.0} µs", median_value(rates)?, median_value(times)?);
    }
    Ok(())
}

/// Starts a service, and a server that may reach it.
pub(super) async fn start_beside_service(server: ServerOptions) -> Result<(EchoService, Server)> {
    let service = EchoService::start().await?;
    let server =
        server.args(["--allowed-hosts", &service.allowed_hosts()]).env("SSL_CERT_FILE", service.authority()?);
    let server = start_for_bench(server, RateLimits::Lifted).await?;
    Ok((service, server))
}

/// Creates an app with a connection to the service, and returns its path.
pub(super) async fn create_app(server: &Server, service: &EchoService, source: &str) -> Result<String> {
    let owner = server.sign_in("bench@example.test").await?;
    let workspace = owner.create_workspace("Bench").await?.id;
    let connection = json!({
        "displayName": "CRM", "baseUrl": service.url(), "auth": {"type": "bearer"}, "methods": ["GET"],
        "secret": "a-secret-of-forty-characters-0123456789a",
    });
    let connectors = format!("/v1/workspaces/{workspace}/connectors/http");
    let connection = owner.post(&connectors, &connection).await?.string_at("/id")?;
    let app = owner.create_app(&workspace, "export default { async fetch() {} }").await?;
    let manifest = json!({
        "name": "An app", "description": "Of the bench.", "archetype": "workshop", "category": "interface",
        "triggers": [{"type": "manual"}],
        "permissions": {"connectors": [{"name": "crm", "connectionId": connection}]},
    });
    let version = json!({"files": {"main.js": source}, "manifest": manifest});
    owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
    Ok(format!("/a/{}/", owner.get(&format!("/v1/apps/{app}")).await?.string_at("/slug")?))
}

/// Returns the time of [`INVOCATIONS`] of so many visitors at once, of so many requests each.
async fn time_of(visitor: &Client, path: &str, visitors: usize, count: u32) -> Result<Duration> {
    let begun = Instant::now();
    try_join_all((0..visitors).map(async |_| {
        for _ in 0..INVOCATIONS {
            invoke(visitor, path, count).await?;
        }
        anyhow::Ok(())
    }))
    .await?;
    Ok(begun.elapsed())
}

async fn invoke(visitor: &Client, path: &str, count: u32) -> Result<()> {
    let response = visitor.request(Method::GET, &format!("{path}?count={count}")).send().await?;
    ensure!(response.status == 200, "the app responded {response:?}");
    Ok(())
}
