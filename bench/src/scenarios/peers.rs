//! Webhooks, compared with those of other programs in alternating rounds.
//!
//! All get the same bodies over the same number of connections from the same generator, which signs every call. A round
//! includes the work that is left after the responses: the next round starts when it is done.

mod debian_webhook;
mod n8n;
mod node_red;
mod process;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use ::tests::{Client, Reply, Server, eventually_within, hub_signature};
use anyhow::{Result, ensure};
use bytes::Bytes;
use clap::Args;
use http::{HeaderName, HeaderValue, Request, header};
use xtask::shell::Progress;

use self::process::PeerProcess;
use crate::{
    Options, api, figures,
    load::{self, LoadPlan, LoadResult, RequestFactory},
    rounds::{ROUNDS, median_round, median_value, millis, with_unique_numbers},
};

/// Secret that the programs share with the sender.
const SECRET: &str = "only-for-the-bench";
/// Header for the signature of the body, as code hosts send it.
const HUB_SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
const SERVICE_SIGNATURE: HeaderName = HeaderName::from_static("service-signature");

/// Generous, because the first start creates a database.
const START_DEADLINE: Duration = Duration::from_secs(180);
/// Limit for executions to appear once the program looks idle.
const EXECUTIONS_DEADLINE: Duration = Duration::from_secs(60);
/// Number of calls that are built to measure the cost of building one.
const SAMPLE: u32 = 10_000;

/// Programs that the scene `peers` compares with Qala.
#[derive(Debug, Args)]
pub(crate) struct Programs {
    /// Debian's `webhook`, for the scene `peers`.
    #[arg(long, value_name = "PROGRAM", requires = "scene")]
    debian_webhook: Option<PathBuf>,
    /// Node-RED, for the scene `peers`.
    #[arg(long, value_name = "PROGRAM", requires = "scene")]
    node_red: Option<PathBuf>,
    /// n8n, for the scene `peers`.
    #[arg(long, value_name = "PROGRAM", requires = "scene")]
    n8n: Option<PathBuf>,
}

/// A program that receives calls, with its results.
struct BenchTarget {
    name: String,
    /// `host:port`
    address: String,
    requests: RequestFactory,
    /// Header with the proof of the sender.
    signature_header: HeaderName,
    characteristics: Characteristics,
    kind: TargetKind,
    accepted: u64,
    rounds: Vec<LoadResult>,
    /// Calls per second of each round until all of its work was done.
    finished: Vec<f64>,
}

/// Properties of a program for the table.
struct Characteristics {
    /// Proof of the sender.
    authentication: &'static str,
    /// Part of an accepted call that is left after `kill -9`, if it was not executed.
    durability: &'static str,
    /// Code that runs for a call.
    execution: &'static str,
}

enum TargetKind {
    Qala(Box<api::BenchWorkspace>),
    Peer(PeerProcess),
    /// Its executions are counted too.
    N8n(PeerProcess),
}

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let Programs { debian_webhook, node_red, n8n } = &options.peers;
    ensure!(
        debian_webhook.is_some() || node_red.is_some() || n8n.is_some(),
        "name a program to compare with Qala: --debian-webhook, --node-red or --n8n"
    );
    let mut targets = vec![qala_target(server).await?];
    if let Some(program) = debian_webhook {
        targets.push(debian_webhook::start(program).await?);
    }
    if let Some(program) = node_red {
        targets.push(node_red::start(program).await?);
    }
    if let Some(program) = n8n {
        progress.report("setting n8n up");
        targets.push(n8n::start(program).await?);
    }
    for target in &mut targets {
        progress.report(format!("waiting for {}", target.name));
        target.wait_until_ready().await?;
    }
    println!(
        "{:<18} {:>6.1} µs of the load generator to build and sign a call",
        "",
        request_cost_microseconds(&targets)?
    );
    for round in 1..=ROUNDS {
        for target in &mut targets {
            progress.report(format!("{}, round {round} of {ROUNDS}", target.name));
            target
                .run_round(options.load_plan())
                .await
                .map_err(|error| error.context(target.name.clone()))?;
        }
    }
    print_table(targets)
}

async fn qala_target(server: &Server) -> Result<BenchTarget> {
    let workspace = api::BenchWorkspace::create(server).await?;
    let characteristics = Characteristics {
        authentication: "HMAC of time and body",
        durability: "all of it, and it runs",
        execution: "JavaScript in a sandbox",
    };
    let address = server.base_url().trim_start_matches("http://").to_owned();
    let requests = workspace.webhook_requests();
    Ok(BenchTarget::new(
        "Qala".to_owned(),
        address,
        &requests,
        SERVICE_SIGNATURE,
        characteristics,
        TargetKind::Qala(Box::new(workspace)),
    ))
}

impl BenchTarget {
    fn new(
        name: String,
        address: String,
        requests: &RequestFactory,
        signature_header: HeaderName,
        characteristics: Characteristics,
        kind: TargetKind,
    ) -> Self {
        let requests = with_unique_numbers(requests);
        let (rounds, finished) = (Vec::new(), Vec::new());
        Self {
            name,
            address,
            requests,
            signature_header,
            characteristics,
            kind,
            accepted: 0,
            rounds,
            finished,
        }
    }

    /// Waits until a call is accepted, and checks that a forged one is rejected.
    async fn wait_until_ready(&mut self) -> Result<()> {
        let description = format!("{} accepts a call", self.name);
        let ready = eventually_within(START_DEADLINE, &description, async || {
            // A program that has ended will never become ready.
            if let Err(error) = self.kind.check_running() {
                return Ok(Err(error));
            }
            let reply = send_once(&self.address, (self.requests)(0)?).await?;
            ensure!(reply.status.is_success(), "{reply}");
            // n8n responds 200 to every request while it starts.
            ensure!(!reply.to_string().contains("is starting up"), "{reply}");
            Ok(Ok(()))
        });
        ready.await??;
        self.accepted += 1;
        let reply =
            send_once(&self.address, forge_signature((self.requests)(0)?, &self.signature_header)?).await?;
        // The status is not always 4xx: `webhook` responds 500.
        ensure!(!reply.status.is_success(), "{} accepts a forged call: {reply}", self.name);
        self.kind.wait_until_idle(self.accepted).await?;
        Ok(())
    }

    async fn run_round(&mut self, plan: LoadPlan) -> Result<()> {
        let started_at = Instant::now();
        let measured = load::run(&self.address, plan, &self.requests).await?;
        self.accepted += measured.response_count;
        let ended_at = self.kind.wait_until_idle(self.accepted).await?;
        self.finished.push(measured.response_count as f64 / (ended_at - started_at).as_secs_f64());
        self.rounds.push(measured);
        Ok(())
    }
}

impl TargetKind {
    fn check_running(&mut self) -> Result<()> {
        match self {
            Self::Qala(_) => Ok(()),
            Self::Peer(process) | Self::N8n(process) => process.check_running(),
        }
    }

    /// Waits until all work is done, and returns the time at which it was. If runs are counted, there must be
    /// `accepted`.
    async fn wait_until_idle(&mut self, accepted: u64) -> Result<Instant> {
        match self {
            Self::Qala(workspace) => {
                figures::wait_for_runs(workspace, 0..accepted, Instant::now()).await?;
                Ok(Instant::now())
            }
            Self::Peer(process) => process.wait_until_idle().await,
            Self::N8n(process) => {
                let idle_since = process.wait_until_idle().await?;
                if n8n::check_executions(process.folder(), accepted).is_ok() {
                    return Ok(idle_since);
                }
                // It responds before it executes, and on a busy machine it looks idle in between.
                let check = async || n8n::check_executions(process.folder(), accepted);
                eventually_within(EXECUTIONS_DEADLINE, "n8n has executed all accepted calls", check).await?;
                Ok(Instant::now())
            }
        }
    }
}

/// Returns calls with the same bodies as Qala's, signed as code hosts do, and with an additional header if given.
fn signed_calls(path: &'static str, extra_header: Option<(HeaderName, HeaderValue)>) -> RequestFactory {
    Arc::new(move |number| {
        let body = api::delivery_body(number);
        let request = Request::post(path).header(HUB_SIGNATURE, hub_signature(SECRET, body.as_bytes()));
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let mut request = request.body(Bytes::from(body))?;
        request.headers_mut().extend(extra_header.clone());
        Ok(request)
    })
}

/// Changes the last character of a call's proof.
fn forge_signature(mut request: Request<Bytes>, header: &HeaderName) -> Result<Request<Bytes>> {
    let value = request.headers().get(header).map(|value| value.as_bytes().to_vec()).unwrap_or_default();
    let Some((last, rest)) = value.split_last() else { anyhow::bail!("no {header} to forge") };
    let other = if *last == b'0' { b'1' } else { b'0' };
    let forged = HeaderValue::from_bytes(&[rest, &[other]].concat())?;
    request.headers_mut().insert(header, forged);
    Ok(request)
}

async fn send_once(address: &str, request: Request<Bytes>) -> Result<Reply> {
    let (parts, body) = request.into_parts();
    let client = Client::new(format!("http://{address}"));
    let mut sent = client.request(parts.method, parts.uri.path()).body("application/json", body)?;
    for (name, value) in &parts.headers {
        sent = sent.header(name, value.to_str()?)?;
    }
    sent.send().await
}

/// Measures the average time to build a call, over all targets.
fn request_cost_microseconds(targets: &[BenchTarget]) -> Result<f64> {
    let started_at = Instant::now();
    for number in 0..SAMPLE {
        let target = &targets[number as usize % targets.len()];
        std::hint::black_box((target.requests)(0)?);
    }
    Ok(started_at.elapsed().as_secs_f64() * 1e6 / f64::from(SAMPLE))
}

fn print_table(targets: Vec<BenchTarget>) -> Result<()> {
    println!(
        "{:<18} {:>12} {:>10} {:>12} {:>6}  {:<22} {:<24} runs",
        "webhooks", "accepted", "p99", "finished", "ratio", "proof", "kept by kill -9"
    );
    let mut ours = None;
    for BenchTarget { name, characteristics, rounds, finished, .. } in targets {
        let accepted = median_round(rounds)?;
        let ours = *ours.get_or_insert(accepted.per_second);
        println!(
            "{name:<18} {:>10.0}/s {:>10} {:>10.0}/s {:>6.2}  {:<22} {:<24} {}",
            accepted.per_second,
            millis(accepted.p99),
            median_value(finished)?,
            ours / accepted.per_second,
            characteristics.authentication,
            characteristics.durability,
            characteristics.execution
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_differ_and_carry_the_signature_of_their_own_body() {
        let calls = signed_calls(
            "/hooks/bench",
            Some((HeaderName::from_static("x-extra"), HeaderValue::from_static("1"))),
        );
        let (one, other) = (calls(1).unwrap(), calls(2).unwrap());
        assert_ne!(one.body(), other.body());
        assert!((1000..1100).contains(&one.body().len()), "{}", one.body().len());
        assert_eq!(one.headers()[HUB_SIGNATURE], hub_signature(SECRET, one.body()));
        assert_eq!(one.headers()["x-extra"], "1");
    }

    #[test]
    fn a_forged_call_differs_only_in_its_proof() {
        let call = signed_calls("/hooks/bench", None)(1).unwrap();
        let forged = forge_signature(call.clone(), &HUB_SIGNATURE).unwrap();
        assert_eq!(forged.body(), call.body());
        let (after, before) = (&forged.headers()[HUB_SIGNATURE], &call.headers()[HUB_SIGNATURE]);
        assert_ne!(after, before);
        assert_eq!(after.len(), before.len());
        assert!(forge_signature(call, &SERVICE_SIGNATURE).is_err());
    }
}
