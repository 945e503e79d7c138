//! How many invocations a second, and how long each takes, with 1, 4 and 16 callers.
//!
//! `cargo build --release -p adapter-runtime --bins && cargo run --release -p adapter-runtime --example runtime_bench`

#![allow(clippy::allow_attributes, clippy::print_stdout, reason = "it prints what it measured")]

use std::{
    collections::BTreeMap,
    error::Error,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use adapter_runtime::{QuickJsEngine, RuntimeConfig};
use async_trait::async_trait;
use kernel::{Clock as _, Id, SystemClock, id::WorkspaceId};
use runs::engine::{
    Bindings, Bundle, DataCall, Engine as _, Entry, Event, Host, HostError, HttpRequest, HttpResponse,
    Invocation, Limits, LogLevel,
};
use serde_json::value::RawValue;
use uuid::Uuid;

const TIME: Duration = Duration::from_secs(4);
const CODE: &str = "export default { async scheduled(event) { console.log('run'); return event.data.id; } };";

struct Nowhere;

#[async_trait]
impl Host for Nowhere {
    fn log(&self, _: LogLevel, _: String) {}
    async fn fetch(&self, _: HttpRequest) -> Result<HttpResponse, HostError> {
        Err(denied())
    }
    async fn connection_fetch(&self, _: &str, _: HttpRequest) -> Result<HttpResponse, HostError> {
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
        max_processes: 2,
        ..RuntimeConfig::default()
    })?);
    let files = BTreeMap::from([("main.js".to_owned(), CODE.to_owned())]);
    let bundle = Arc::new(Bundle { version: Id::from_uuid(Uuid::from_u128(1)), files });
    let workspace: WorkspaceId = Id::from_uuid(Uuid::from_u128(1));
    let invocation = Invocation {
        workspace,
        app: Id::from_uuid(Uuid::from_u128(1)),
        bundle,
        bindings: Bindings::default(),
        entry: Entry::Scheduled(Event {
            trigger: "webhook".into(),
            data: RawValue::from_string(r#"{"id":"evt_1"}"#.to_owned())?,
            scheduled_time: SystemClock.now(),
            cron: None,
            run_id: Id::from_uuid(Uuid::from_u128(3)),
            attempt: 1,
        }),
        limits: Limits::default(),
    };
    for callers in [1, 4, 16] {
        let started = Instant::now();
        let mut tasks = Vec::new();
        for _ in 0..callers {
            let (engine, invocation) = (Arc::clone(&engine), invocation.clone());
            tasks.push(tokio::spawn(async move {
                let mut times = Vec::new();
                while started.elapsed() < TIME {
                    let begun = Instant::now();
                    engine.invoke(invocation.clone(), Arc::new(Nowhere)).await?;
                    times.push(begun.elapsed());
                }
                Ok::<_, runs::engine::Failure>(times)
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
    }
    Ok(())
}
