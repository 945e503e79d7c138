//! Executes one version of an app with its host: queued runs and visits.

mod authorization_servers;
mod connection_test;
mod draft;
mod egress;
mod host;
mod outgoing;
mod redaction;
mod rows;
mod run_result;
mod secrets;
mod trace;
mod uninterrupted_credentials;
mod version_cache;
mod visit_meter;

use std::{mem, sync::Arc, time::Duration};

use apps::versions::{ENTRY_FILE, TYPESCRIPT_ENTRY_FILE};
use async_trait::async_trait;
use connections::{
    AllowedPorts, OutboundClient,
    egress::{AllowedHost, ConnectorBase},
};
use kernel::{
    Clock, Randomness, StoreError,
    id::{AppId, VersionId, WorkspaceId},
};
use observability::{
    LogLevel, LogSource, Measurement, MetricsRecorder, NewLogLine,
    metrics::{AttemptEnding, Workload},
};
use runs::{
    engine::{
        self, Bindings, Bundle, Engine, Failure, FailureCode, HandlerCall, HandlerOutput, Host as _,
        HttpRequest, Invocation, InvocationLimits, ScheduledEvent, StreamedResponse,
    },
    fair_share::{FairSemaphore, ShareLimits},
    queue::{
        AppAvailability, AttemptOutcome, ClaimedRun, FinishedRun, RunFault, RunLogLine, classify_failure,
    },
    runs::{Step, StepStatus},
    serve::{AppResponse, AppServer},
};
use serde_json::value::RawValue;
use tokio::{sync::Semaphore, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    AppSecrets, CallCounter, ConnectionCredentials, ConnectionStore, ExecutorStore,
    connection_limits::ConnectionLimits, dispatcher::Runner,
};
use host::AppHost;
use outgoing::CallTimer;
use run_result::RunResult;
use trace::{MAX_HTTP_LOG_BYTES, MAX_RUN_LOG_BYTES, RunTrace, finished_step};
use version_cache::{LoadedVersion, VersionCache};
use visit_meter::VisitMeter;

/// Attempts beyond the first and the app's retries that lost leases and failures of the platform may use up.
const MAX_INFRASTRUCTURE_RETRIES: u8 = 3;
/// Maximum number of visits whose log lines are being written; further responses wait until a write ends.
const MAX_CONCURRENT_LOG_WRITES: usize = 64;
/// Maximum number of visits whose log lines wait to be searched for secrets.
const MAX_PENDING_REDACTIONS: usize = 256;
/// Maximum number of those of one share.
const MAX_PENDING_REDACTIONS_OF_SHARE: usize = 16;

/// Dependencies of the executor.
pub struct ExecutorDeps {
    /// Runs the code in a sandbox.
    pub engine: Arc<dyn Engine>,
    /// Reads and writes the rows of backend projects.
    pub rows: Arc<backend_data::Engine>,
    /// Sends the requests of apps to other hosts.
    pub outbound: Arc<dyn OutboundClient>,
    /// Reads versions, projects, workspaces and gates, and takes log lines.
    pub store: Arc<dyn ExecutorStore>,
    /// Reads connections.
    pub connections: Arc<dyn ConnectionStore>,
    /// Opens the credentials of connections.
    pub credentials: Arc<ConnectionCredentials>,
    /// Opens secrets of apps.
    pub secrets: Arc<AppSecrets>,
    /// Counts requests by gate.
    pub calls: Arc<CallCounter>,
    /// Takes metrics of apps.
    pub metrics: Arc<dyn MetricsRecorder>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Source of ids and of the jitter of retries.
    pub random: Arc<dyn Randomness>,
}

/// Settings of the operator.
#[derive(Debug, Clone, Default)]
pub struct ExecutorSettings {
    /// Ports that apps may connect to besides 443.
    pub ports: AllowedPorts,
    /// Hosts in private networks that apps may reach.
    pub allowed_private_hosts: Vec<AllowedHost>,
    /// Fakes in place of services of the catalogue, for development.
    pub connector_bases: Vec<ConnectorBase>,
    /// Limits of one invocation.
    pub limits: InvocationLimits,
    /// True if requests through a connection are not counted against its limits; for load tests.
    pub no_rate_limits: bool,
}

/// Runs app code for the queue and for visits. Clones share one executor.
#[derive(Clone)]
pub struct Executor(Arc<Inner>);

struct Inner {
    engine: Arc<dyn Engine>,
    rows: Arc<backend_data::Engine>,
    outbound: Arc<dyn OutboundClient>,
    store: Arc<dyn ExecutorStore>,
    connections: Arc<dyn ConnectionStore>,
    credentials: Arc<ConnectionCredentials>,
    secrets: Arc<AppSecrets>,
    calls: Arc<CallCounter>,
    connection_limits: ConnectionLimits,
    metrics: Arc<dyn MetricsRecorder>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
    settings: ExecutorSettings,
    contents: VersionCache,
    log_writes: Arc<Semaphore>,
    /// Visits whose log lines are being searched for secrets.
    redactions: Arc<FairSemaphore>,
    /// Visits whose log lines are not written yet.
    log_tasks: TaskTracker,
    /// Responses that are being streamed.
    streams: TaskTracker,
    /// Cancelled when they are to be cut off.
    stream_cancellation: CancellationToken,
}

impl Executor {
    /// Creates an executor.
    #[must_use]
    pub fn new(deps: ExecutorDeps, settings: ExecutorSettings) -> Self {
        let ExecutorDeps {
            engine,
            rows,
            outbound,
            store: reads,
            connections,
            credentials,
            secrets,
            calls,
            metrics,
            clock,
            random,
        } = deps;
        let contents = VersionCache::new(Arc::clone(&reads));
        let log_writes = Arc::new(Semaphore::new(MAX_CONCURRENT_LOG_WRITES));
        let limits = ShareLimits { permits: MAX_PENDING_REDACTIONS_OF_SHARE, waiting: usize::MAX };
        let redactions = FairSemaphore::new(MAX_PENDING_REDACTIONS, limits);
        let inner = Inner {
            engine,
            rows,
            outbound,
            store: reads,
            connections,
            credentials,
            secrets,
            calls,
            metrics,
            clock,
            random,
            connection_limits: ConnectionLimits::new(!settings.no_rate_limits),
            settings,
            contents,
            log_writes,
            redactions,
            log_tasks: TaskTracker::new(),
            streams: TaskTracker::new(),
            stream_cancellation: CancellationToken::new(),
        };
        Self(Arc::new(inner))
    }

    /// Cuts off every response that is still being streamed. For the shutdown.
    pub fn cancel_streams(&self) {
        self.0.stream_cancellation.cancel();
    }

    /// Waits until all streamed responses have ended and the log lines of all visits are written. For the shutdown.
    pub async fn flush(&self) {
        self.0.streams.close();
        self.0.streams.wait().await;
        self.0.log_tasks.close();
        self.0.log_tasks.wait().await;
    }
}

/// The reason for which an attempt ran no code.
enum AdmissionError {
    /// The run can never start; code and message of its fault.
    Permanent(&'static str, &'static str),
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for AdmissionError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Inner {
    /// Returns the version that a claimed run executes, or the reason for which it must not start.
    async fn admit(&self, run: &ClaimedRun) -> Result<Arc<LoadedVersion>, AdmissionError> {
        if run.effective_attempt() > u32::from(run.retries) + u32::from(MAX_INFRASTRUCTURE_RETRIES) + 1 {
            let why = "the run was started too many times without ending";
            return Err(AdmissionError::Permanent("lease_lost", why));
        }
        let gone = AdmissionError::Permanent("no_version", "the app has no version to run");
        let Some(version) = run.version else { return Err(gone) };
        match run.app_availability {
            AppAvailability::Ready => {}
            AppAvailability::Paused => {
                return Err(AdmissionError::Permanent("app_paused", "the app is paused"));
            }
            AppAvailability::Deleted => {
                return Err(AdmissionError::Permanent("app_deleted", "the app was deleted"));
            }
        }
        self.contents.version(run.workspace, run.app, version).await?.ok_or(gone)
    }

    /// Creates the host of one invocation; returns it with the names that the code finds in `env`.
    async fn create_host(
        self: &Arc<Self>,
        (workspace, app): (WorkspaceId, AppId),
        content: &Arc<LoadedVersion>,
        (workload, log_bytes): (Workload, usize),
    ) -> Result<(Arc<AppHost>, Bindings), StoreError> {
        let bound = self.contents.bindings(workspace, &content.manifest).await?;
        let secrets = secrets::bind(&self.secrets, (workspace, app), &content.manifest).await?;
        let names = Bindings {
            data: bound.iter().map(|binding| binding.name.clone()).collect(),
            connections: content.manifest.permissions.connectors.iter().map(|it| it.name.clone()).collect(),
            secrets: secrets.bindings,
        };
        let host = AppHost::new(
            Arc::clone(self),
            (workspace, app),
            Arc::clone(content),
            (bound, secrets.scrubber),
            (workload, log_bytes),
        );
        Ok((Arc::new(host), names))
    }

    async fn invoke(
        &self,
        (workspace, app): (WorkspaceId, AppId),
        content: &LoadedVersion,
        bindings: Bindings,
        entry: HandlerCall,
        host: &Arc<AppHost>,
    ) -> Result<HandlerOutput, Failure> {
        let bundle = Arc::clone(&content.bundle);
        let limits = self.settings.limits;
        let share = content.share;
        let invocation = Invocation { workspace, share, app, bundle, bindings, handler: entry, limits };
        match self.engine.invoke(invocation, Arc::clone(host) as Arc<dyn engine::Host>).await {
            Ok(output) => Ok(output),
            Err(failure) => Err(host.redact(failure).await),
        }
    }

    fn failure_outcome(&self, run: &ClaimedRun, failure: &Failure, record: &RunTrace) -> AttemptOutcome {
        let refused = failure.host_code.as_deref().is_some_and(|code| record.has_refusal(code));
        // A missing worker process is not the app's fault, so it does not cost the app its retries.
        let retries = match failure.code {
            FailureCode::Overloaded => run.retries.saturating_add(MAX_INFRASTRUCTURE_RETRIES),
            _ => run.retries,
        };
        classify_failure(failure, refused, run.effective_attempt(), retries, self.clock.now(), &*self.random)
    }

    fn reject(&self, run: &ClaimedRun, why: AdmissionError) -> FinishedRun {
        let conclusion = match why {
            AdmissionError::Permanent(code, message) => {
                AttemptOutcome::Failed(RunFault { code: code.to_owned(), message: message.to_owned() })
            }
            AdmissionError::Store(error) => self.failure_outcome(
                run,
                &unavailable(&error),
                &RunTrace::new(&self.settings.limits, MAX_RUN_LOG_BYTES),
            ),
        };
        self.finished_run(run, conclusion, RunOutcome::default())
    }

    fn finished_run(&self, run: &ClaimedRun, conclusion: AttemptOutcome, ending: RunOutcome) -> FinishedRun {
        let RunOutcome { steps, lines, minutes_saved, duration, result } = ending;
        let ending = match &conclusion {
            AttemptOutcome::Succeeded => Some(AttemptEnding::Succeeded),
            AttemptOutcome::Failed(_) | AttemptOutcome::Blocked(_) => Some(AttemptEnding::Failed),
            AttemptOutcome::Retry { .. } => Some(AttemptEnding::Retried),
            // It begins again once a person has answered.
            AttemptOutcome::Wait { .. } => None,
        };
        if let Some(ending) = ending {
            self.record_measurement((run.workspace, run.app), Measurement::Attempt { ending, duration });
        }
        tracing::debug!(is_final = conclusion.is_final(), steps = steps.len(), "attempt finished");
        FinishedRun {
            id: run.id,
            workspace: run.workspace,
            app: run.app,
            automation: run.automation,
            attempt: run.attempt,
            at: self.clock.now(),
            started_at: run.started_at,
            outcome: conclusion,
            minutes_saved,
            result,
            steps,
            lines,
        }
    }

    fn record_measurement(&self, (workspace, app): (WorkspaceId, AppId), measurement: Measurement) {
        self.metrics.record(workspace, app, self.clock.now(), measurement);
    }

    /// Records the log lines of a visit and, if it failed, the failure: in the background. Waits while those of
    /// [`MAX_CONCURRENT_LOG_WRITES`] others are written, or, if they are searched for secrets, those of
    /// [`MAX_PENDING_REDACTIONS_OF_SHARE`] others of the same share: a long search takes nobody else the place to write.
    async fn record_response(
        self: &Arc<Self>,
        (workspace, app): (WorkspaceId, AppId),
        host: &Arc<AppHost>,
        failure: Option<&Failure>,
    ) {
        let record = host.take_trace();
        if record.lines.is_empty() && failure.is_none() {
            return;
        }
        let (mut searching, mut writing) = (None, None);
        if host.has_clear_secrets() {
            searching = self.redactions.acquire(host.share()).await.ok();
        } else {
            writing = Arc::clone(&self.log_writes).acquire_owned().await.ok();
        }
        let (inner, host, failure) = (Arc::clone(self), Arc::clone(host), failure.cloned());
        let failed_at = self.clock.now();
        self.log_tasks.spawn(async move {
            let refused = record.refused_calls();
            let record = host.redact_trace(record).await;
            let mut lines: Vec<_> = record.lines.into_iter().map(to_log_line).collect();
            if let Some(failure) = failure {
                let message = host.redact(failure).await.to_string();
                lines.push(NewLogLine::new(failed_at, LogLevel::Error, LogSource::Platform, message));
            }
            if writing.is_none() {
                writing = Arc::clone(&inner.log_writes).acquire_owned().await.ok();
            }
            if let Err(error) = inner.store.append_log(workspace, app, lines, refused).await {
                tracing::warn!(%app, error = &error as &dyn std::error::Error, "log lines lost");
            }
            drop((searching, writing));
        });
    }
}

/// Steps, log lines, minutes saved, duration and result of an attempt.
#[derive(Default)]
struct RunOutcome {
    steps: Vec<Step>,
    lines: Vec<RunLogLine>,
    minutes_saved: f64,
    /// Time that the code took; `None` if there was none.
    duration: Option<Duration>,
    /// Value that the code returned, if it is kept.
    result: Option<Box<RawValue>>,
}

#[async_trait]
impl Runner for Executor {
    #[tracing::instrument(
        skip_all,
        fields(run = %run.id, workspace = %run.workspace, app = %run.app, attempt = run.attempt)
    )]
    async fn run(&self, mut run: ClaimedRun) -> FinishedRun {
        let inner = &self.0;
        let content = match inner.admit(&run).await {
            Ok(content) => content,
            Err(why) => return inner.reject(&run, why),
        };
        let (host, bindings) = match inner
            .create_host((run.workspace, run.app), &content, (Workload::Run, MAX_RUN_LOG_BYTES))
            .await
        {
            Ok(host) => host,
            Err(error) => return inner.reject(&run, error.into()),
        };
        let entry = HandlerCall::Scheduled(ScheduledEvent {
            trigger: run.trigger.as_str().to_owned(),
            data: mem::take(&mut run.input),
            scheduled_time: run.scheduled_for,
            cron: run.cron.take(),
            run_id: run.id,
            attempt: run.effective_attempt(),
        });
        host.set_answers(mem::take(&mut run.answers));
        let (begun, started) = (CallTimer::start(inner.clock.now()), Instant::now());
        let invocation = inner.invoke((run.workspace, run.app), &content, bindings, entry, &host);
        // Code that asks a person is stopped at the question, whatever errors it catches.
        let result = tokio::select! {
            biased;
            result = invocation => Ok(result),
            asked = host.wait_for_question() => Err(asked),
        };
        let (span, duration) = (begun.elapsed(), Some(started.elapsed()));
        let record = host.redact_trace(host.take_trace()).await;
        let result = match result {
            Ok(result) => result,
            Err((number, question)) => {
                let approval = kernel::Id::generate(&*inner.random, inner.clock.now());
                let asked = finished_step(
                    step_label(&content.bundle),
                    StepStatus::Waiting,
                    span,
                    question.title.clone(),
                );
                let (steps, lines) = record.into_steps(asked);
                let conclusion = AttemptOutcome::Wait { approval, number, question };
                let outcome = RunOutcome { steps, lines, duration, ..RunOutcome::default() };
                return inner.finished_run(&run, conclusion, outcome);
            }
        };
        let mut kept = None;
        let (conclusion, status, detail) = match result {
            Ok(output) => {
                let RunResult { kept: returned, detail } = RunResult::of(run.trigger, output, &host).await;
                kept = returned;
                (AttemptOutcome::Succeeded, StepStatus::Ok, detail)
            }
            Err(failure) => {
                let conclusion = inner.failure_outcome(&run, &failure, &record);
                let blocked = matches!(conclusion, AttemptOutcome::Blocked(_));
                let status = if blocked { StepStatus::Blocked } else { StepStatus::Failed };
                (conclusion, status, Some(failure.code.as_str().to_owned()))
            }
        };
        let saved = content.manifest.roi.manual_minutes_per_run;
        let minutes_saved = if conclusion == AttemptOutcome::Succeeded { saved } else { 0.0 };
        let (steps, lines) =
            record.into_steps(finished_step(step_label(&content.bundle), status, span, detail));
        let outcome = RunOutcome { steps, lines, minutes_saved, duration, result: kept };
        inner.finished_run(&run, conclusion, outcome)
    }
}

#[async_trait]
impl AppServer for Executor {
    #[tracing::instrument(level = "debug", name = "visit", skip_all, fields(%workspace, %app, %version))]
    async fn serve(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
        request: HttpRequest,
    ) -> Result<AppResponse, Failure> {
        let inner = &self.0;
        let mut meter = VisitMeter::start(inner, (workspace, app));
        let found = inner.contents.version(workspace, app, version).await;
        let content = found
            .map_err(|error| unavailable(&error))?
            .ok_or_else(|| fail(FailureCode::InvalidBundle, "the app has no such version"))?;
        let (host, bindings) = inner
            .create_host((workspace, app), &content, (Workload::Request, MAX_HTTP_LOG_BYTES))
            .await
            .map_err(|error| unavailable(&error))?;
        let result =
            inner.invoke((workspace, app), &content, bindings, HandlerCall::Fetch(request), &host).await;
        let (response, completion) = match result {
            Ok(HandlerOutput::Streamed(StreamedResponse { status, headers, body, completion })) => {
                (Ok(AppResponse::Streamed { status, headers, body }), Some(completion))
            }
            Ok(HandlerOutput::Response(response)) => (Ok(AppResponse::Buffered(response)), None),
            Ok(HandlerOutput::Scheduled(_)) => {
                (Err(fail(FailureCode::WorkerLost, "the engine returned no response")), None)
            }
            Err(failure) => (Err(failure), None),
        };
        meter.set_response(&response);
        if let Some(reason) = response.as_ref().ok().and_then(AppResponse::why_unsendable) {
            host.log(engine::LogLevel::Error, format!("The response cannot be sent: {reason}."));
        }
        let Some(completion) = completion else {
            inner.record_response((workspace, app), &host, response.as_ref().err()).await;
            return response;
        };
        // Recorded at the end of the response, whether or not the visitor waits for it.
        let inner = Arc::clone(inner);
        self.0.streams.spawn(async move {
            let result = tokio::select! {
                biased;
                result = completion => result,
                () = inner.stream_cancellation.cancelled() => Err(fail(FailureCode::Overloaded, "the server shut down before the response ended")),
            };
            meter.set_completion(&result);
            inner.record_response((workspace, app), &host, result.as_ref().err()).await;
        });
        response
    }
}

/// Returns the label of the first step of a run.
fn step_label(bundle: &Bundle) -> String {
    let entry =
        if bundle.files().contains_key(TYPESCRIPT_ENTRY_FILE) { TYPESCRIPT_ENTRY_FILE } else { ENTRY_FILE };
    format!("Run {entry}")
}

fn to_log_line(line: RunLogLine) -> NewLogLine {
    let level = match line.level {
        engine::LogLevel::Debug => LogLevel::Debug,
        engine::LogLevel::Info => LogLevel::Info,
        engine::LogLevel::Warn => LogLevel::Warn,
        engine::LogLevel::Error => LogLevel::Error,
    };
    let source = if line.is_from_gate { LogSource::Gate } else { LogSource::App };
    NewLogLine::new(line.at, level, source, line.message)
}

fn fail(code: FailureCode, message: &str) -> Failure {
    Failure { code, message: message.to_owned(), host_code: None }
}

/// Failures of the store are the platform's, not the app's.
fn unavailable(error: &StoreError) -> Failure {
    tracing::warn!(error = error as &dyn std::error::Error, "cannot read an app");
    fail(FailureCode::Overloaded, "the app is temporarily unavailable")
}

#[cfg(test)]
mod tests;
