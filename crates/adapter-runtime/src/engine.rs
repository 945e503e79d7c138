//! The port [`Engine`] on worker processes.

use std::{io, sync::Arc, time::Duration};

use async_trait::async_trait;
use kernel::{
    ShareId,
    id::{UserId, WorkspaceId},
};
use runs::engine::{
    Bindings, Bundle, Engine, ExportedHandlers, Failure, FailureCode, FetchRequest, FetchResponse,
    HandlerCall, HandlerOutput, Host, HostError, HttpResponse, Invocation, InvocationLimits, LogLevel,
    ScheduledEvent, StreamedResponse,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    bytecode::{self, BytecodeCache, BytecodeKey},
    config::RuntimeConfig,
    exchange::{Exchange, ExchangeEvent, WorkerLoss, lost_worker_failure},
    pool::{Pool, WorkloadKey, WorkloadKind},
    protocol::{Confinement, Fault, Job, JobLimits, Outcome, Task},
    spawner::Spawner,
    streaming::start_streaming,
};

/// Limits of a check, which links a bundle and runs its top level. No timer fires and no call leaves meanwhile.
const CHECK_LIMITS: InvocationLimits = InvocationLimits {
    wall_time: Duration::from_secs(5),
    cpu_time: Duration::from_secs(2),
    memory_bytes: 64 << 20,
    log_lines: 0,
    host_calls: 0,
    output_bytes: 0,
    streamed_bytes: 0,
};

/// An engine that runs app code in QuickJS, in worker processes.
pub struct QuickJsEngine {
    pool: Arc<Pool>,
    bytecode: BytecodeCache,
}

impl QuickJsEngine {
    /// Starts the engine and its prewarmed processes. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// If there is no runtime, the program cannot be found or a thread cannot be started.
    pub fn start(config: RuntimeConfig) -> io::Result<Self> {
        let spawner = Spawner::start(&config)?;
        Self::with_spawner(spawner, config)
    }

    /// Starts a worker process and returns the layers of confinement that it reports.
    ///
    /// # Errors
    /// If none can be started, or a layer is missing that is required.
    pub async fn confinement(&self) -> io::Result<Confinement> {
        self.pool.spawn().await.map(|process| process.confinement)
    }

    pub(crate) fn with_spawner(spawner: Spawner, config: RuntimeConfig) -> io::Result<Self> {
        let bytecode = BytecodeCache::start(config.bytecode_directory.as_ref())?;
        Ok(Self { pool: Pool::start(config, spawner)?, bytecode })
    }

    async fn run_job(
        &self,
        (workspace, share): (WorkspaceId, ShareId),
        bundle: &Bundle,
        work: (Task, Bindings),
        limits: &InvocationLimits,
        host: Arc<dyn Host>,
    ) -> Result<StartedJob, Failure> {
        let kind = match &work.0 {
            Task::Scheduled(_) => WorkloadKind::Run,
            Task::Fetch(_) => WorkloadKind::HttpRequest,
            Task::Check => WorkloadKind::Check,
        };
        let (mut lease, mut process) = self.pool.acquire(WorkloadKey { workspace, kind, share }).await?;
        let digest = bundle.digest();
        let mut bytecode = None;
        if !process.touch_bundle(digest) {
            let key = BytecodeKey { workspace, digest };
            let compile = async || bytecode::compile(&lease, bundle).await;
            match self.bytecode.get_or_compile(key, process.build, compile).await {
                Ok(found) => bytecode = Some(found),
                Err(failure) => {
                    lease.return_worker(process);
                    return Err(failure);
                }
            }
        }
        // The program was replaced on disk while processes of the former one ran.
        if let Some(bytecode) = &bytecode
            && bytecode.build != process.build
        {
            process = lease.fresh_worker().await?;
            if bytecode.build != process.build {
                return Err(unexpected_message());
            }
        }
        let (task, bindings) = work;
        let job = Job {
            bundle: digest,
            evict: bytecode.as_ref().and_then(|_| process.evict_lru_bundle()),
            bytecode: bytecode.map(|bytecode| bytecode.modules),
            bindings,
            task,
            limits: JobLimits::from(limits),
            is_low_priority: process.has_low_priority(),
        };
        let bounds = (*limits, self.pool.config().kill_grace);
        let mut exchange = Exchange::start((process, lease.take_busy_guard()), job, bounds, host);
        match exchange.next_event().await {
            Ok(ExchangeEvent::Completed(completed)) => {
                exchange.complete(lease, digest, completed).map(StartedJob::Completed)
            }
            // Without a permit the code is stopped: dropping the exchange kills its process.
            Ok(ExchangeEvent::Head(head)) => {
                let permit = self.pool.acquire_stream(share)?;
                Ok(StartedJob::Streaming(start_streaming(exchange, (lease, permit), digest, head)))
            }
            // A body without a head.
            Ok(ExchangeEvent::Chunk(_) | ExchangeEvent::BodyEnd) => {
                Err(lost_worker_failure(&exchange.process, &lease, WorkerLoss::Broken, limits).await)
            }
            Err(lost) => Err(lost_worker_failure(&exchange.process, &lease, lost, limits).await),
        }
    }
}

/// A job that was completed, or has begun to stream its response.
enum StartedJob {
    Completed(Outcome),
    Streaming(StreamedResponse),
}

#[async_trait]
impl Engine for QuickJsEngine {
    async fn invoke(&self, invocation: Invocation, host: Arc<dyn Host>) -> Result<HandlerOutput, Failure> {
        let Invocation { workspace, share, app, bundle, bindings, handler, limits } = invocation;
        let task = match handler {
            HandlerCall::Scheduled(event) => Task::Scheduled(event_json(&event)?),
            HandlerCall::Fetch(request) => Task::Fetch(request.into()),
        };
        match self.run_job((workspace, share), &bundle, (task, bindings), &limits, host).await? {
            StartedJob::Streaming(streamed) => Ok(HandlerOutput::Streamed(streamed)),
            StartedJob::Completed(outcome) => validate_output(outcome, &limits).inspect_err(|failure| {
                tracing::warn!(%app, %failure, "rejected the output of a worker");
            }),
        }
    }

    async fn check(
        &self,
        workspace: WorkspaceId,
        person: Option<UserId>,
        bundle: Arc<Bundle>,
    ) -> Result<ExportedHandlers, Failure> {
        let work = (Task::Check, Bindings::default());
        let payer = (workspace, ShareId::of(person, workspace));
        match self.run_job(payer, &bundle, work, &CHECK_LIMITS, Arc::new(NoHost)).await? {
            StartedJob::Completed(Outcome::Handlers { scheduled, fetch }) => {
                Ok(ExportedHandlers { scheduled, fetch })
            }
            _ => Err(unexpected_message()),
        }
    }

    fn charge_cpu_time(&self, share: ShareId, used: Duration) {
        self.pool.charge_cpu_time(share, used);
    }
}

/// Checks an outcome again, since the worker ran foreign code.
fn validate_output(outcome: Outcome, limits: &InvocationLimits) -> Result<HandlerOutput, Failure> {
    let check_size = |length: usize| {
        let fault = Fault::new(FailureCode::OutputTooLarge, "the code gave back more than it may");
        if length as u64 <= limits.output_bytes { Ok(()) } else { Err(Failure::from(fault)) }
    };
    match outcome {
        Outcome::Json(json) => {
            check_size(json.len())?;
            RawValue::from_string(json).map(HandlerOutput::Scheduled).map_err(|_| unexpected_message())
        }
        Outcome::Response(response) => {
            check_size(response.body.len())?;
            let response = HttpResponse::from(response);
            if (200..=599).contains(&response.status) {
                Ok(HandlerOutput::Response(response))
            } else {
                Err(unexpected_message())
            }
        }
        Outcome::Handlers { .. } | Outcome::Streamed => Err(unexpected_message()),
    }
}

fn unexpected_message() -> Failure {
    Failure::from(Fault::new(FailureCode::WorkerLost, "the worker answered something else than it was asked"))
}

/// Encodes an event for app code, with its time as a number of milliseconds, as Cloudflare Workers have it.
fn event_json(event: &ScheduledEvent) -> Result<String, Failure> {
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
    .map_err(|error| {
        Failure::from(Fault::new(FailureCode::AppError, format!("the event is no JSON: {error}")))
    })
}

/// A host that refuses every call, for code that is only checked.
struct NoHost;

#[async_trait]
impl Host for NoHost {
    fn log(&self, _: LogLevel, _: String) {}

    async fn fetch(&self, _: FetchRequest) -> Result<FetchResponse, HostError> {
        Err(no_host_error())
    }

    async fn connection_fetch(&self, _: &str, _: FetchRequest) -> Result<FetchResponse, HostError> {
        Err(no_host_error())
    }

    async fn data(&self, _: &str, _: runs::engine::DataCall) -> Result<Box<RawValue>, HostError> {
        Err(no_host_error())
    }
}

fn no_host_error() -> HostError {
    HostError {
        code: "egress_denied".to_owned(),
        message: "code that is only checked has no outside".to_owned(),
    }
}

#[cfg(test)]
mod tests;
