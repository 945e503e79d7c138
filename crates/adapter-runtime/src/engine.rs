//! The port `runs::engine::Engine` on worker processes.

use std::{io, sync::Arc, time::Duration};

use async_trait::async_trait;
use kernel::id::WorkspaceId;
use runs::engine::{
    Bindings, Bundle, Engine, Entry, Event, Failure, FailureCode, Handlers, Host, HostError, HttpRequest,
    HttpResponse, Invocation, Limits, LogLevel, Output, Streamed,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    config::RuntimeConfig,
    exchange::{Exchange, Heard, Lost, mourn},
    pool::{Kind, Lease, Pool},
    protocol::{Confinement, Done, Fault, Job, JobLimits, MAX_MESSAGE, Outcome, Task, Version, cut},
    spawner::Spawner,
    streaming::stream,
};

/// The most memory one invocation may ask for; the process itself is held to twice as much.
const MAX_MEMORY: u64 = 512 << 20;
/// The most processor time one invocation may ask for.
pub(crate) const MAX_CPU: Duration = Duration::from_secs(120);
/// What compiling and the top level of a bundle may use when it is only checked.
const CHECK: Limits = Limits {
    wall: Duration::from_secs(10),
    cpu: Duration::from_secs(5),
    memory: 64 << 20,
    log_lines: 0,
    host_calls: 0,
    output: 0,
    streamed: 0,
};

/// Runs app code in QuickJS, in processes of its own.
pub struct QuickJsEngine {
    pool: Arc<Pool>,
}

impl QuickJsEngine {
    /// Starts the engine and its first blank process. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When there is no runtime, the program cannot be found or a thread cannot be started.
    pub fn start(config: RuntimeConfig) -> io::Result<Self> {
        let spawner = Spawner::start(&config)?;
        Self::with_workers_of(spawner, config)
    }

    /// What holds worker processes in on this machine, as one says that is made for it.
    ///
    /// # Errors
    /// When none can be started, or a wall is missing that is required.
    pub async fn confinement(&self) -> io::Result<Confinement> {
        self.pool.spawn().await.map(|process| process.confinement)
    }

    pub(crate) fn with_workers_of(spawner: Spawner, config: RuntimeConfig) -> io::Result<Self> {
        Pool::start(config, spawner).map(|pool| Self { pool })
    }

    async fn run(
        &self,
        workspace: WorkspaceId,
        bundle: &Bundle,
        work: (Task, Bindings),
        limits: &Limits,
        host: Arc<dyn Host>,
    ) -> Result<Ran, Failure> {
        let kind = match &work.0 {
            Task::Scheduled(_) => Kind::Run,
            Task::Fetch(_) => Kind::Answer,
            Task::Check => Kind::Check,
        };
        let (mut lease, mut process) = self.pool.acquire(workspace, kind).await?;
        let version: Version = bundle.version.uuid().into_bytes();
        let known = process.touch(version);
        let (task, bindings) = work;
        let job = Job {
            version,
            files: if known { None } else { Some(bundle.files.clone()) },
            forget: if known { None } else { process.make_room() },
            bindings,
            task,
            limits: on_the_wire(limits),
            gives_way: process.has_low_priority(),
        };
        let within = (*limits, self.pool.config().grace);
        let mut exchange = Exchange::begin((process, lease.at_work()), job, within, host);
        match exchange.next().await {
            Ok(Heard::Done(done)) => finish(exchange, lease, version, done).map(Ran::Done),
            // Where there is no place for it, the code is stopped: its process goes with the exchange.
            Ok(Heard::Head(head)) => {
                let place = self.pool.stream(workspace)?;
                Ok(Ran::Streaming(stream(exchange, (lease, place), version, head)))
            }
            // No head came before.
            Ok(Heard::Piece(_) | Heard::End) => {
                Err(mourn(&exchange.process, &lease, Lost::Gone, limits).await)
            }
            Err(lost) => Err(mourn(&exchange.process, &lease, lost, limits).await),
        }
    }
}

/// What became of a job.
enum Ran {
    Done(Outcome),
    Streaming(Streamed),
}

/// Gives the process back after a job that is done.
pub(crate) fn finish(
    exchange: Exchange,
    lease: Lease,
    version: Version,
    done: Done,
) -> Result<Outcome, Failure> {
    let mut process = exchange.process;
    process.kept(version, done.kept);
    if !done.retire {
        lease.release(process);
    }
    done.verdict.map_err(failure)
}

#[async_trait]
impl Engine for QuickJsEngine {
    async fn invoke(&self, invocation: Invocation, host: Arc<dyn Host>) -> Result<Output, Failure> {
        let Invocation { workspace, app, bundle, bindings, entry, limits } = invocation;
        let task = match entry {
            Entry::Scheduled(event) => Task::Scheduled(event_json(&event)?),
            Entry::Fetch(request) => Task::Fetch(request.into()),
        };
        match self.run(workspace, &bundle, (task, bindings), &limits, host).await? {
            Ran::Streaming(streamed) => Ok(Output::Streamed(streamed)),
            Ran::Done(outcome) => output(outcome, &limits).inspect_err(|failure| {
                tracing::warn!(%app, %failure, "a worker gave back what it may not");
            }),
        }
    }

    async fn check(&self, workspace: WorkspaceId, bundle: Arc<Bundle>) -> Result<Handlers, Failure> {
        let work = (Task::Check, Bindings::default());
        match self.run(workspace, &bundle, work, &CHECK, Arc::new(NoHost)).await? {
            Ran::Done(Outcome::Handlers { scheduled, fetch }) => Ok(Handlers { scheduled, fetch }),
            _ => Err(strange()),
        }
    }
}

/// What the worker says is checked again: it ran code that is not ours.
fn output(outcome: Outcome, limits: &Limits) -> Result<Output, Failure> {
    let fits = |length: usize| {
        let fault = Fault::new(FailureCode::OutputTooLarge, "the code gave back more than it may");
        if length as u64 <= limits.output { Ok(()) } else { Err(failure(fault)) }
    };
    match outcome {
        Outcome::Json(json) => {
            fits(json.len())?;
            RawValue::from_string(json).map(Output::Scheduled).map_err(|_| strange())
        }
        Outcome::Response(response) => {
            fits(response.body.len())?;
            let response = HttpResponse::from(response);
            if (200..=599).contains(&response.status) {
                Ok(Output::Response(response))
            } else {
                Err(strange())
            }
        }
        Outcome::Handlers { .. } | Outcome::Streamed => Err(strange()),
    }
}

fn failure(fault: Fault) -> Failure {
    let Fault { code, mut message, host_code } = fault;
    cut(&mut message, MAX_MESSAGE);
    Failure { code, message, host_code }
}

fn strange() -> Failure {
    failure(Fault::new(FailureCode::WorkerLost, "the worker answered something else than it was asked"))
}

fn on_the_wire(limits: &Limits) -> JobLimits {
    let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX >> 1);
    JobLimits {
        wall_micros: micros(limits.wall),
        cpu_micros: micros(limits.cpu.min(MAX_CPU)),
        memory: limits.memory.min(MAX_MEMORY),
        log_lines: limits.log_lines,
        host_calls: limits.host_calls,
        output: limits.output,
        streamed: limits.streamed,
    }
}

/// The event as app code sees it: the time is a number, as in Workers.
fn event_json(event: &Event) -> Result<String, Failure> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct AppEvent<'a> {
        trigger: &'a str,
        data: &'a RawValue,
        scheduled_time: i64,
        cron: Option<&'a str>,
        run_id: String,
        attempt: u32,
    }
    serde_json::to_string(&AppEvent {
        trigger: &event.trigger,
        data: &event.data,
        scheduled_time: event.scheduled_time.timestamp_millis(),
        cron: event.cron.as_deref(),
        run_id: event.run_id.to_string(),
        attempt: event.attempt,
    })
    .map_err(|error| failure(Fault::new(FailureCode::AppError, format!("the event is no JSON: {error}"))))
}

/// The outside of code that is only checked.
pub(crate) struct NoHost;

#[async_trait]
impl Host for NoHost {
    fn log(&self, _: LogLevel, _: String) {}

    async fn fetch(&self, _: HttpRequest) -> Result<HttpResponse, HostError> {
        Err(nothing())
    }

    async fn connection_fetch(&self, _: &str, _: HttpRequest) -> Result<HttpResponse, HostError> {
        Err(nothing())
    }

    async fn data(&self, _: &str, _: runs::engine::DataCall) -> Result<Box<RawValue>, HostError> {
        Err(nothing())
    }
}

fn nothing() -> HostError {
    HostError {
        code: "egress_denied".to_owned(),
        message: "code that is only checked has no outside".to_owned(),
    }
}
