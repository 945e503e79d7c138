//! Webhooks beside other programs that take them, in rounds by turns.
//!
//! All are sent the same bodies over as many connections, signed by the same generator. What is left to do after the
//! answers belongs to a side's own round: the next one begins when it is done.

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

/// What the programs share with the sender.
const SECRET: &str = "only-for-the-bench";
/// Where the senders of code hosts put the signature of a body.
const HUB_SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
const SERVICE_SIGNATURE: HeaderName = HeaderName::from_static("service-signature");

/// A first start makes a database.
const START_DEADLINE: Duration = Duration::from_secs(180);
/// How long an execution may stay away once the program looks idle.
const EXECUTIONS_DEADLINE: Duration = Duration::from_secs(60);
/// How many calls are made to learn what making one costs.
const SAMPLE: u32 = 10_000;

/// What Qala is put beside in the scene `peers`.
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

/// Who is sent calls.
struct BenchTarget {
    name: String,
    /// `host:port`
    address: String,
    maker: RequestFactory,
    /// The header that proves the sender.
    signature_header: HeaderName,
    characteristics: Characteristics,
    kind: TargetKind,
    accepted: u64,
    rounds: Vec<LoadResult>,
    /// Calls a second of each round, until the last of them was worked off.
    finished: Vec<f64>,
}

/// What comes of a call.
struct Characteristics {
    /// How the sender is known.
    authentication: &'static str,
    /// What `kill -9` leaves of a call that was accepted and not worked off.
    durability: &'static str,
    /// What runs for a call.
    execution: &'static str,
}

/// What answers.
enum TargetKind {
    Qala(Box<api::BenchWorkspace>),
    Peer(PeerProcess),
    /// Counts what it ran, too.
    N8n(PeerProcess),
}

pub(super) async fn run(server: &Server, options: &Options, progress: &Progress) -> Result<()> {
    let Programs { debian_webhook, node_red, n8n } = &options.peers;
    ensure!(
        debian_webhook.is_some() || node_red.is_some() || n8n.is_some(),
        "name a program to put beside Qala: --debian-webhook, --node-red or --n8n"
    );
    let mut sides = vec![qala_target(server).await?];
    if let Some(program) = debian_webhook {
        sides.push(debian_webhook::start(program).await?);
    }
    if let Some(program) = node_red {
        sides.push(node_red::start(program).await?);
    }
    if let Some(program) = n8n {
        progress.report("setting n8n up");
        sides.push(n8n::start(program).await?);
    }
    for side in &mut sides {
        progress.report(format!("waiting for {}", side.name));
        side.wait_until_ready().await?;
    }
    println!(
        "{:<18} {:>6.1} µs to make and sign a call, of the generator's time",
        "",
        request_cost_microseconds(&sides)?
    );
    for round in 1..=ROUNDS {
        for side in &mut sides {
            progress.report(format!("{}, round {round} of {ROUNDS}", side.name));
            side.run_round(options.load_plan()).await.map_err(|error| error.context(side.name.clone()))?;
        }
    }
    print_table(sides)
}

async fn qala_target(server: &Server) -> Result<BenchTarget> {
    let world = api::BenchWorkspace::create(server).await?;
    let habits = Characteristics {
        authentication: "HMAC of time and body",
        durability: "all of it, and it runs",
        execution: "JavaScript in a sandbox",
    };
    let address = server.base_url().trim_start_matches("http://").to_owned();
    let maker = world.webhook_requests();
    Ok(BenchTarget::new(
        "Qala".to_owned(),
        address,
        &maker,
        SERVICE_SIGNATURE,
        habits,
        TargetKind::Qala(Box::new(world)),
    ))
}

impl BenchTarget {
    fn new(
        name: String,
        address: String,
        maker: &RequestFactory,
        proof: HeaderName,
        habits: Characteristics,
        behind: TargetKind,
    ) -> Self {
        let maker = with_unique_numbers(maker);
        let (rounds, finished) = (Vec::new(), Vec::new());
        Self {
            name,
            address,
            maker,
            signature_header: proof,
            characteristics: habits,
            kind: behind,
            accepted: 0,
            rounds,
            finished,
        }
    }

    /// Waits until a call is accepted, and sees that one with another proof is not.
    async fn wait_until_ready(&mut self) -> Result<()> {
        let what = format!("{} accepts a call", self.name);
        let up = eventually_within(START_DEADLINE, &what, async || {
            // Nothing comes of a program that has ended.
            if let Err(ended) = self.kind.check_running() {
                return Ok(Err(ended));
            }
            let reply = send_once(&self.address, (self.maker)(0)?).await?;
            ensure!(reply.status.is_success(), "{reply}");
            // n8n answers 200 to everything while it does.
            ensure!(!reply.to_string().contains("is starting up"), "{reply}");
            Ok(Ok(()))
        });
        up.await??;
        self.accepted += 1;
        let reply =
            send_once(&self.address, forge_signature((self.maker)(0)?, &self.signature_header)?).await?;
        // Not always as a client's error: `webhook` has 500 for it.
        ensure!(!reply.status.is_success(), "{} accepts a forged call: {reply}", self.name);
        self.kind.wait_until_idle(self.accepted).await?;
        Ok(())
    }

    async fn run_round(&mut self, plan: LoadPlan) -> Result<()> {
        let begins = Instant::now();
        let measured = load::run(&self.address, plan, &self.maker).await?;
        self.accepted += measured.response_count;
        let ends = self.kind.wait_until_idle(self.accepted).await?;
        self.finished.push(measured.response_count as f64 / (ends - begins).as_secs_f64());
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

    /// Waits until nothing is left to do, and says since when. Where runs are counted, they must be `accepted`.
    async fn wait_until_idle(&mut self, accepted: u64) -> Result<Instant> {
        match self {
            Self::Qala(world) => {
                figures::wait_for_runs(world, 0..accepted, Instant::now()).await?;
                Ok(Instant::now())
            }
            Self::Peer(process) => process.wait_until_idle().await,
            Self::N8n(process) => {
                let quiet = process.wait_until_idle().await?;
                if n8n::check_executions(process.folder(), accepted).is_ok() {
                    return Ok(quiet);
                }
                // It answers before it begins, and where the machine is busy it looks idle in between.
                let all = async || n8n::check_executions(process.folder(), accepted);
                eventually_within(EXECUTIONS_DEADLINE, "n8n has executed all it accepted", all).await?;
                Ok(Instant::now())
            }
        }
    }
}

/// Calls with the bodies that Qala gets, signed as code hosts do, and with one more header if need be.
fn signed_calls(path: &'static str, more: Option<(HeaderName, HeaderValue)>) -> RequestFactory {
    Arc::new(move |number| {
        let body = api::delivery_body(number);
        let request = Request::post(path).header(HUB_SIGNATURE, hub_signature(SECRET, body.as_bytes()));
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let mut request = request.body(Bytes::from(body))?;
        request.headers_mut().extend(more.clone());
        Ok(request)
    })
}

/// The same call with the last character of its proof exchanged.
fn forge_signature(mut request: Request<Bytes>, proof: &HeaderName) -> Result<Request<Bytes>> {
    let value = request.headers().get(proof).map(|value| value.as_bytes().to_vec()).unwrap_or_default();
    let Some((last, rest)) = value.split_last() else { anyhow::bail!("no {proof} to forge") };
    let other = if *last == b'0' { b'1' } else { b'0' };
    let forged = HeaderValue::from_bytes(&[rest, &[other]].concat())?;
    request.headers_mut().insert(proof, forged);
    Ok(request)
}

async fn send_once(address: &str, request: Request<Bytes>) -> Result<Reply> {
    let (parts, body) = request.into_parts();
    let client = Client::new(format!("http://{address}"));
    let mut asked = client.request(parts.method, parts.uri.path()).body("application/json", body)?;
    for (name, value) in &parts.headers {
        asked = asked.header(name, value.to_str()?)?;
    }
    asked.send().await
}

/// What making a call costs, over all sides.
fn request_cost_microseconds(sides: &[BenchTarget]) -> Result<f64> {
    let since = Instant::now();
    for number in 0..SAMPLE {
        let side = &sides[number as usize % sides.len()];
        std::hint::black_box((side.maker)(0)?);
    }
    Ok(since.elapsed().as_secs_f64() * 1e6 / f64::from(SAMPLE))
}

fn print_table(sides: Vec<BenchTarget>) -> Result<()> {
    println!(
        "{:<18} {:>12} {:>10} {:>12} {:>6}  {:<22} {:<24} runs",
        "webhooks", "accepted", "p99", "finished", "ratio", "proof", "kept by kill -9"
    );
    let mut ours = None;
    for BenchTarget { name, characteristics: habits, rounds, finished, .. } in sides {
        let accepted = median_round(rounds)?;
        let ours = *ours.get_or_insert(accepted.per_second);
        println!(
            "{name:<18} {:>10.0}/s {:>10} {:>10.0}/s {:>6.2}  {:<22} {:<24} {}",
            accepted.per_second,
            millis(accepted.p99),
            median_value(finished)?,
            ours / accepted.per_second,
            habits.authentication,
            habits.durability,
            habits.execution
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_differ_and_carry_the_signature_of_their_own_body() {
        let maker = signed_calls(
            "/hooks/bench",
            Some((HeaderName::from_static("x-more"), HeaderValue::from_static("1"))),
        );
        let (one, other) = (maker(1).unwrap(), maker(2).unwrap());
        assert_ne!(one.body(), other.body());
        assert!((1000..1100).contains(&one.body().len()), "{}", one.body().len());
        assert_eq!(one.headers()[HUB_SIGNATURE], hub_signature(SECRET, one.body()));
        assert_eq!(one.headers()["x-more"], "1");
    }

    #[test]
    fn a_forged_call_differs_in_its_proof_alone() {
        let call = signed_calls("/hooks/bench", None)(1).unwrap();
        let forged = forge_signature(call.clone(), &HUB_SIGNATURE).unwrap();
        assert_eq!(forged.body(), call.body());
        let (is, was) = (&forged.headers()[HUB_SIGNATURE], &call.headers()[HUB_SIGNATURE]);
        assert_ne!(is, was);
        assert_eq!(is.len(), was.len());
        assert!(forge_signature(call, &SERVICE_SIGNATURE).is_err());
    }
}
