//! Invocations a second and their latency with 1, 4 and 16 callers: handlers without streams, one that uses a stream, one that
//! responds with one, and bundles of 4 to 650 KiB of functions that no call uses.
//!
//! `cargo build --release -p adapter-runtime --bins && cargo run --release -p adapter-runtime --example runtime_bench [PART OF A NAME]`

#![allow(clippy::allow_attributes, clippy::print_stdout, reason = "it prints what it measured")]

use std::{
    collections::BTreeMap,
    error::Error,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use adapter_runtime::{ConcurrencyLimits, QuickJsEngine, RuntimeConfig};
use async_trait::async_trait;
use futures::StreamExt as _;
use kernel::{Clock as _, Id, SystemClock, id::WorkspaceId};
use runs::engine::{
    Bindings, Bundle, DataCall, Engine as _, Failure, FetchRequest, FetchResponse, HandlerCall,
    HandlerOutput, Host, HostError, HttpRequest, Invocation, InvocationLimits, LogLevel, ScheduledEvent,
    StreamedResponse,
};
use serde_json::value::RawValue;
use uuid::Uuid;

const MEASURE_DURATION: Duration = Duration::from_secs(4);
/// Name and code of each handler.
const CASES: [(&str, &str); 4] = [
    ("scheduled", "export default { async scheduled(event) { console.log('run'); return event.data.id; } };"),
    ("fetch, whole", "export default { async fetch() { return new Response('hello'); } };"),
    (
        "scheduled, streams used",
        "export default { async scheduled(event) { new ReadableStream(); return event.data.id; } };",
    ),
    (
        "fetch, streamed",
        "export default { async fetch() { return new Response(new ReadableStream({ start(c) {
             for (let at = 0; at < 10; at++) c.enqueue(new Uint8Array(100)); c.close() } })); } };",
    ),
];

struct DenyingHost;

#[async_trait]
impl Host for DenyingHost {
    fn log(&self, _: LogLevel, _: String) {}
    async fn fetch(&self, _: FetchRequest) -> Result<FetchResponse, HostError> {
        Err(denied())
    }
    async fn connection_fetch(&self, _: &str, _: FetchRequest) -> Result<FetchResponse, HostError> {
        Err(denied())
    }
    async fn data(&self, _: &str, _: DataCall) -> Result<Box<RawValue>, HostError> {
        Err(denied())
    }
}

fn denied() -> HostError {
    HostError { code: "egress_denied".into(), message: "nowhere".into() }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let directory = program.ancestors().nth(2).map(PathBuf::from).unwrap_or_default();
    let engine = Arc::new(QuickJsEngine::start(RuntimeConfig {
        program: Some(directory.join("adapter-runtime-worker")),
        arguments: Vec::new(),
        concurrency: ConcurrencyLimits { runs: 3, requests: 3, checks: 1 },
        ..RuntimeConfig::default()
    })?);
    let cases = CASES.map(|(name, code)| (name.to_owned(), code.to_owned()));
    let sizes = BUNDLE_SIZES.map(|kib| (format!("scheduled, a bundle of {kib} KiB"), large_module(kib)));
    let only = std::env::args().nth(1).unwrap_or_default();
    for (number, (name, code)) in (1..).zip(cases.into_iter().chain(sizes)) {
        if !name.contains(&only) {
            continue;
        }
        let files = BTreeMap::from([("main.js".to_owned(), code)]);
        let bundle = Arc::new(Bundle::new(Id::from_uuid(Uuid::from_u128(number)), files));
        let handler = if name.starts_with("fetch") { fetch() } else { scheduled()? };
        let workspace: WorkspaceId = Id::from_uuid(Uuid::from_u128(1));
        let invocation = Invocation {
            workspace,
            share: workspace.into(),
            app: Id::from_uuid(Uuid::from_u128(1)),
            bundle,
            bindings: Bindings::default(),
            handler,
            limits: InvocationLimits::default(),
        };
        println!("{name}");
        for callers in [1, 4, 16] {
            measure(&engine, &invocation, callers).await?;
        }
    }
    Ok(())
}

fn scheduled() -> Result<HandlerCall, Box<dyn Error>> {
    Ok(HandlerCall::Scheduled(ScheduledEvent {
        trigger: "webhook".into(),
        data: RawValue::from_string(r#"{"id":"evt_1"}"#.to_owned())?,
        scheduled_time: SystemClock.now(),
        cron: None,
        run_id: Id::from_uuid(Uuid::from_u128(3)),
        attempt: 1,
    }))
}

fn fetch() -> HandlerCall {
    HandlerCall::Fetch(HttpRequest {
        method: "GET".into(),
        url: "https://app.example/".into(),
        headers: Vec::new(),
        body: Default::default(),
    })
}

/// Sizes of bundles, in KiB.
const BUNDLE_SIZES: [usize; 5] = [4, 80, 200, 400, 650];

/// Returns a module of about so many KiB, most of which nothing calls.
fn large_module(kib: usize) -> String {
    let mut code = String::from(
        "export default { async scheduled(event) { return event.data.id; } };\nexport const all = {};\n",
    );
    for number in 0.. {
        if code.len() >= kib << 10 {
            break;
        }
        code.push_str(&format!(
            "all.f{number} = function f{number}(a, b) {{ const c = {{ a, b, n{number}: {number} }}; \
             for (const d of [a, b]) {{ if (d?.x{number} > c.n{number}) return d.map((e) => e * {number}); }} \
             return `${{a}}-text {number}-${{b}}`; }};\n",
        ));
    }
    code
}

/// Runs one invocation to its end.
async fn invoke(engine: &QuickJsEngine, invocation: Invocation) -> Result<(), Failure> {
    if let HandlerOutput::Streamed(StreamedResponse { mut body, completion: end, .. }) =
        engine.invoke(invocation, Arc::new(DenyingHost)).await?
    {
        while let Some(piece) = body.next().await {
            piece?;
        }
        end.await?;
    }
    Ok(())
}

async fn measure(
    engine: &Arc<QuickJsEngine>,
    invocation: &Invocation,
    callers: usize,
) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..callers {
        let (engine, invocation) = (Arc::clone(engine), invocation.clone());
        tasks.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while started.elapsed() < MEASURE_DURATION {
                let begun = Instant::now();
                invoke(&engine, invocation.clone()).await?;
                times.push(begun.elapsed());
            }
            Ok::<_, Failure>(times)
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let elapsed = started.elapsed();
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!(
        "{callers:>2} callers: {:>6.0}/s  p50 {:?}  p99 {:?}",
        times.len() as f64 / elapsed.as_secs_f64(),
        at(0.5),
        at(0.99)
    );
    Ok(())
}
