//! Requests through a connection beside requests of the HTTP client alone, to the same service on loopback: the decision,
//! opening the sealed secret, the header, the search of the response for it, and counting.
//!
//! `cargo run --release --package adapter-gate --example gate_bench`

#![allow(clippy::allow_attributes, clippy::print_stdout, reason = "it prints what it measured")]

use std::{
    collections::HashMap,
    error::Error,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use adapter_gate::{EgressClient, EgressLimits};
use async_trait::async_trait;
use axum::{Router, http::header, routing::get};
use connections::{
    Auth, AuthInput, Connection, ConnectionPolicy, ConnectionStatus, CredentialSource, GateStatus,
    HttpConnection, OutboundClient as _, OutboundRequest, Refusal, authorize_connection,
    calls::CallSum,
    connection::{BaseUrl, HTTP_CONNECTOR, SecretPurpose, gate_of},
    egress::AllowedHost,
    gates::Method,
    health::{Bucket, CallOutcome},
    outbound::OpenedCredential,
};
use kernel::{
    Clock as _, Id, SystemClock, SystemRandomness, Timestamp,
    id::{GateId, WorkspaceId},
    vault::{MasterKeys, Vault},
};
use secrecy::SecretString;
use tokio::net::TcpListener;
use uuid::Uuid;

const HOST: &str = "upstream.example";
const MEASURE_DURATION: Duration = Duration::from_secs(3);
const ROUNDS: usize = 5;
/// Bytes of a response.
const BODY: usize = 1_024;

type AnyError = Box<dyn Error + Send + Sync>;

/// Opens the sealed secret for each request.
struct Sealed {
    vault: Vault,
    text: String,
}

#[async_trait]
impl CredentialSource for Sealed {
    async fn open(&self, policy: &Arc<ConnectionPolicy>) -> Result<OpenedCredential, Refusal> {
        let context = policy.connection.sealing_context(SecretPurpose::Secret);
        let opened = self.vault.open(&context.parts(), &self.text);
        opened
            .map(OpenedCredential::Secret)
            .map_err(|error| Refusal::new(connections::RefusalCode::SecretUnavailable, error.to_string()))
    }
}

/// Counts as the server does: a map behind a lock.
#[derive(Default)]
struct Counts(Mutex<HashMap<(WorkspaceId, GateId, Bucket), CallSum>>);

impl Counts {
    fn count(&self, connection: &Connection, now: Timestamp, outcome: CallOutcome) {
        let key = (connection.workspace, gate_of(connection.id), Bucket::of(now));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().counts.count(outcome);
    }
}

struct Gate {
    client: EgressClient,
    connection: Connection,
    allowed_hosts: Vec<AllowedHost>,
    base_url: String,
    sealed: Sealed,
    counts: Counts,
}

impl Gate {
    async fn send(&self) -> Result<(), AnyError> {
        // The server puts the rules together for each request.
        let policy = Arc::new(ConnectionPolicy {
            allowed_hosts: self.allowed_hosts.clone(),
            base_override: Some(self.base_url.clone()),
            ..ConnectionPolicy::new(self.connection.clone())
        });
        let permit = authorize_connection("/orders?limit=1", "GET", &policy)?;
        let request = OutboundRequest::default();
        let response = self.client.send_through_connection(request, permit, &self.sealed).await?;
        self.counts.count(&self.connection, SystemClock.now(), CallOutcome::Succeeded);
        if response.body.collect().await?.len() == BODY { Ok(()) } else { Err("another body".into()) }
    }
}

fn connection(port: u16) -> Result<Connection, AnyError> {
    let host: connections::GateHost = HOST.parse()?;
    Ok(Connection {
        id: Id::from_uuid(Uuid::from_u128(5)),
        workspace: Id::from_uuid(Uuid::from_u128(2)),
        connector: HTTP_CONNECTOR.to_owned(),
        display_name: "CRM".to_owned(),
        status: ConnectionStatus::NEW,
        connected_at: None,
        key_id: None,
        secret_version: 1,
        http: HttpConnection {
            base_url: BaseUrl::parse(&format!("https://{HOST}:{port}"))?,
            host,
            auth: Auth::parse(AuthInput::Bearer { prefix: None })?,
            methods: vec![Method::Get],
            path_prefix: "/".to_owned(),
            headers: Vec::new(),
            test_path: None,
            testable: true,
            preset: None,
        },
        values: Default::default(),
        service_account: None,
        gate: GateStatus::Open,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        revision: 1,
    })
}

/// Sends with so many callers at once; returns requests a second, and the median of their times.
async fn measure<S, F>(callers: usize, send: S) -> Result<(f64, Duration), AnyError>
where
    S: Fn() -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<(), AnyError>> + Send,
{
    let begun = Instant::now();
    let call = move |send: S| async move {
        let mut times = Vec::new();
        while begun.elapsed() < MEASURE_DURATION {
            let sent = Instant::now();
            send().await?;
            times.push(sent.elapsed());
        }
        Ok::<_, AnyError>(times)
    };
    let tasks: Vec<_> = (0..callers).map(|_| tokio::spawn(call(send.clone()))).collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    times.sort_unstable();
    let rate = times.len() as f64 / begun.elapsed().as_secs_f64();
    Ok((rate, times[times.len() / 2]))
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let respond = async || ([(header::CONTENT_TYPE, "application/json")], "x".repeat(BODY));
    let router = Router::new().fallback(get(respond));
    tokio::spawn(async move { axum::serve(listener, router).await });

    let connection = connection(port)?;
    let vault = Vault::new(&MasterKeys::new(vec![[1; 32]])?);
    let context = connection.sealing_context(SecretPurpose::Secret);
    let secret = SecretString::from("a-secret-of-forty-characters-0123456789a");
    let text = vault.seal(&SystemRandomness, &context.parts(), &secret);
    let sealed = Sealed { vault, text };
    let client = EgressClient::new(EgressLimits::default())?;
    let allowed_hosts = vec![format!("{HOST}:{port}=127.0.0.1/32").parse()?];
    let base_url = format!("http://{HOST}:{port}");
    let gate =
        Arc::new(Gate { client, connection, allowed_hosts, base_url, sealed, counts: Counts::default() });
    let through_gate = {
        let gate = Arc::clone(&gate);
        move || {
            let gate = Arc::clone(&gate);
            async move { gate.send().await }
        }
    };
    // A client that is built without a configuration of TLS takes the default provider.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        return Err("another provider of cryptography is installed".into());
    }
    let plain = reqwest::Client::builder().no_proxy().build()?;
    let url = format!("http://127.0.0.1:{port}/orders?limit=1");
    let alone = move || {
        let request = plain.get(&url).bearer_auth("a-secret-of-forty-characters-0123456789a");
        async move {
            let body = request.send().await?.bytes().await?;
            if body.len() == BODY { Ok(()) } else { Err("another body".into()) }
        }
    };

    println!(
        "callers  alone 1/s  gate 1/s  ratio  alone µs  gate µs  added µs   (medians of {ROUNDS} rounds)"
    );
    if std::env::args().count() > 1 {
        for _ in 0..4 {
            measure(16, through_gate.clone()).await?;
        }
        return Ok(());
    }
    for callers in [1, 16] {
        let (mut rates, mut times) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (alone_rate, alone_time) = measure(callers, alone.clone()).await?;
            let (gate_rate, gate_time) = measure(callers, through_gate.clone()).await?;
            rates.push((gate_rate / alone_rate, alone_rate, gate_rate));
            times.push((gate_time.saturating_sub(alone_time), alone_time, gate_time));
        }
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        times.sort_unstable();
        let (ratio, alone_rate, gate_rate) = rates[ROUNDS / 2];
        let (added, alone_time, gate_time) = times[ROUNDS / 2];
        println!(
            "{callers:>7}  {alone_rate:>9.0}  {gate_rate:>8.0}  {ratio:>5.2}  {:>8}  {:>7}  {:>8}",
            alone_time.as_micros(),
            gate_time.as_micros(),
            added.as_micros()
        );
    }
    Ok(())
}
