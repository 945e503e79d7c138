//! Runs one version of an app, with its host.

mod egress;
mod host;
mod rows;
mod trace;
mod version_cache;

use std::{mem, sync::Arc};

use async_trait::async_trait;
use connections::{AllowedPorts, OutboundClient, egress::AllowedHost};
use kernel::{
    Clock, Randomness, StoreError,
    events::RefusedRequest,
    id::{AppId, VersionId, WorkspaceId},
};
use observability::{LogLevel, LogSource, NewLogLine};
use runs::{
    engine::{
        self, Bindings, Engine, Failure, FailureCode, HandlerCall, HandlerOutput, HttpRequest, Invocation,
        InvocationLimits, ScheduledEvent, StreamedResponse,
    },
    queue::{
        AppAvailability, AttemptOutcome, ClaimedRun, FinishedRun, RunFault, RunLogLine, classify_failure,
    },
    runs::{Step, StepStatus},
    serve::{AppResponse, AppServer},
};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{ExecutorStore, dispatcher::Runner};
use host::{AppHost, CallTimer};
use trace::{MAX_HTTP_LOG_BYTES, MAX_RUN_LOG_BYTES, RunTrace, finished_step};
use version_cache::{LoadedVersion, VersionCache};

/// Claims beyond the first and the retries that a run may use up on lost leases and on our own troubles.
const MAX_INFRASTRUCTURE_RETRIES: u8 = 3;
/// Answers over HTTP whose lines are being written at once; the next answer waits for its own lines.
const MAX_CONCURRENT_LOG_WRITES: u32 = 64;
/// The label of every run's first step.
const RUN_STEP_LABEL: &str = "Run main.js";

/// What the executor works with.
pub struct ExecutorDeps {
    /// Runs the code.
    pub engine: Arc<dyn Engine>,
    /// The rows of backend projects.
    pub rows: Arc<backend_data::Engine>,
    /// The way out.
    pub outbound: Arc<dyn OutboundClient>,
    /// The store.
    pub store: Arc<dyn ExecutorStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance, for when to try again.
    pub random: Arc<dyn Randomness>,
}

/// What the operator decides.
#[derive(Debug, Clone, Default)]
pub struct ExecutorSettings {
    /// Ports that may be dialled beside 443.
    pub ports: AllowedPorts,
    /// Hosts inside the own network that apps may reach.
    pub allowed_private_hosts: Vec<AllowedHost>,
    /// What one invocation may use up.
    pub limits: InvocationLimits,
}

/// Runs app code: what the queue holds, and what asks over HTTP. Clones are one executor.
#[derive(Clone)]
pub struct Executor(Arc<Inner>);

struct Inner {
    engine: Arc<dyn Engine>,
    rows: Arc<backend_data::Engine>,
    outbound: Arc<dyn OutboundClient>,
    store: Arc<dyn ExecutorStore>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
    settings: ExecutorSettings,
    contents: VersionCache,
    log_writes: Arc<Semaphore>,
    /// Answers that are being streamed.
    streams: TaskTracker,
    /// Whether they are to be cut off.
    stream_cancellation: CancellationToken,
}

impl Executor {
    /// An executor.
    #[must_use]
    pub fn new(deps: ExecutorDeps, settings: ExecutorSettings) -> Self {
        let ExecutorDeps { engine, rows, outbound, store: reads, clock, random } = deps;
        let contents = VersionCache::new(Arc::clone(&reads));
        let log_writes = Arc::new(Semaphore::new(MAX_CONCURRENT_LOG_WRITES as usize));
        let inner = Inner {
            engine,
            rows,
            outbound,
            store: reads,
            clock,
            random,
            settings,
            contents,
            log_writes,
            streams: TaskTracker::new(),
            stream_cancellation: CancellationToken::new(),
        };
        Self(Arc::new(inner))
    }

    /// Cuts off every answer that is still being streamed; for the shutdown.
    pub fn cancel_streams(&self) {
        self.0.stream_cancellation.cancel();
    }

    /// Waits until all answers over HTTP have ended and their lines are written; for the shutdown.
    pub async fn flush(&self) {
        self.0.streams.close();
        self.0.streams.wait().await;
        // Whoever holds them all knows that nobody writes.
        drop(self.0.log_writes.acquire_many(MAX_CONCURRENT_LOG_WRITES).await);
    }
}

/// Why an attempt did not come to running code.
enum AdmissionError {
    /// It never will.
    Permanent(&'static str, &'static str),
    /// The store cannot answer now.
    Store(StoreError),
}

impl From<StoreError> for AdmissionError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Inner {
    /// The version of a claimed run, if it is to run at all.
    async fn admit(&self, run: &ClaimedRun) -> Result<Arc<LoadedVersion>, AdmissionError> {
        if run.effective_attempt() > u32::from(run.retries) + u32::from(MAX_INFRASTRUCTURE_RETRIES) + 1 {
            let why = "the run was begun again and again, and never came to an end";
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
                return Err(AdmissionError::Permanent("app_deleted", "the app is gone"));
            }
        }
        self.contents.version(run.workspace, run.app, version).await?.ok_or(gone)
    }

    /// A host for one invocation, and the names the code finds in `env`.
    async fn create_host(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        content: &Arc<LoadedVersion>,
        log_bytes: usize,
    ) -> Result<(Arc<AppHost>, Bindings), StoreError> {
        let bound = self.contents.bindings(workspace, &content.manifest).await?;
        let names = Bindings {
            data: bound.iter().map(|binding| binding.name.clone()).collect(),
            connections: content.manifest.permissions.connectors.iter().map(|it| it.name.clone()).collect(),
        };
        let host = AppHost::new(Arc::clone(self), workspace, Arc::clone(content), bound, log_bytes);
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
        let invocation = Invocation { workspace, app, bundle, bindings, handler: entry, limits };
        self.engine.invoke(invocation, Arc::clone(host) as Arc<dyn engine::Host>).await
    }

    fn failure_outcome(&self, run: &ClaimedRun, failure: &Failure, record: &RunTrace) -> AttemptOutcome {
        let refused = failure.host_code.as_deref().is_some_and(|code| record.has_refusal(code));
        // That no process could be had is no failure of the app, so it does not cost it its retries.
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
        let RunOutcome { steps, lines, minutes_saved } = ending;
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
            steps,
            lines,
        }
    }

    /// Keeps what an answer over HTTP leaves: its lines, and why it was none.
    async fn record_response(
        self: &Arc<Self>,
        (workspace, app): (WorkspaceId, AppId),
        host: &AppHost,
        failure: Option<&Failure>,
    ) {
        let record = host.take_trace();
        let refused = record.refused_calls();
        let mut lines: Vec<_> = record.lines.into_iter().map(to_log_line).collect();
        if let Some(failure) = failure {
            let now = self.clock.now();
            lines.push(NewLogLine::new(now, LogLevel::Error, LogSource::Platform, failure.to_string()));
        }
        self.append_log_lines(workspace, app, lines, refused).await;
    }

    /// Writes the lines of an answer, without the answer waiting unless very many are being written.
    async fn append_log_lines(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        app: AppId,
        lines: Vec<NewLogLine>,
        refused: Vec<RefusedRequest>,
    ) {
        if lines.is_empty() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.log_writes).acquire_owned().await else { return };
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = inner.store.append_log(workspace, app, lines, refused).await {
                tracing::warn!(%app, error = &error as &dyn std::error::Error, "lines of log were lost");
            }
            drop(permit);
        });
    }
}

/// What an attempt leaves beside its conclusion.
#[derive(Default)]
struct RunOutcome {
    steps: Vec<Step>,
    lines: Vec<RunLogLine>,
    minutes_saved: f64,
}

#[async_trait]
impl Runner for Executor {
    async fn run(&self, mut run: ClaimedRun) -> FinishedRun {
        let inner = &self.0;
        let content = match inner.admit(&run).await {
            Ok(content) => content,
            Err(why) => return inner.reject(&run, why),
        };
        let (host, bindings) = match inner.create_host(run.workspace, &content, MAX_RUN_LOG_BYTES).await {
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
        let begun = CallTimer::start(inner.clock.now());
        let invocation = inner.invoke((run.workspace, run.app), &content, bindings, entry, &host);
        // Code that asks a person is stopped where it is, whatever it would have caught.
        let result = tokio::select! {
            biased;
            result = invocation => Ok(result),
            asked = host.wait_for_question() => Err(asked),
        };
        let span = begun.elapsed();
        let record = host.take_trace();
        let result = match result {
            Ok(result) => result,
            Err((number, question)) => {
                let approval = kernel::Id::generate(&*inner.random, inner.clock.now());
                let asked = finished_step(
                    RUN_STEP_LABEL.to_owned(),
                    StepStatus::Waiting,
                    span,
                    question.title.clone(),
                );
                let (steps, lines) = record.into_steps(asked);
                let conclusion = AttemptOutcome::Wait { approval, number, question };
                return inner.finished_run(&run, conclusion, RunOutcome { steps, lines, minutes_saved: 0.0 });
            }
        };
        let (conclusion, status, detail) = match result {
            Ok(_) => (AttemptOutcome::Succeeded, StepStatus::Ok, None),
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
            record.into_steps(finished_step(RUN_STEP_LABEL.to_owned(), status, span, detail));
        inner.finished_run(&run, conclusion, RunOutcome { steps, lines, minutes_saved })
    }
}

#[async_trait]
impl AppServer for Executor {
    async fn serve(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
        request: HttpRequest,
    ) -> Result<AppResponse, Failure> {
        let inner = &self.0;
        let found = inner.contents.version(workspace, app, version).await;
        let content = found
            .map_err(|error| unavailable(&error))?
            .ok_or_else(|| fail(FailureCode::InvalidBundle, "the app has no such version"))?;
        let (host, bindings) = inner
            .create_host(workspace, &content, MAX_HTTP_LOG_BYTES)
            .await
            .map_err(|error| unavailable(&error))?;
        let result =
            inner.invoke((workspace, app), &content, bindings, HandlerCall::Fetch(request), &host).await;
        let (answer, end) = match result {
            Ok(HandlerOutput::Streamed(StreamedResponse { status, headers, body, completion })) => {
                (Ok(AppResponse::Streamed { status, headers, body }), Some(completion))
            }
            Ok(HandlerOutput::Response(response)) => (Ok(AppResponse::Buffered(response)), None),
            Ok(HandlerOutput::Scheduled(_)) => {
                (Err(fail(FailureCode::WorkerLost, "the engine gave no response")), None)
            }
            Err(failure) => (Err(failure), None),
        };
        let Some(end) = end else {
            inner.record_response((workspace, app), &host, answer.as_ref().err()).await;
            return answer;
        };
        // What it leaves is kept at its end, whether or not the visitor stays for it.
        let inner = Arc::clone(inner);
        self.0.streams.spawn(async move {
            let result = tokio::select! {
                biased;
                result = end => result,
                () = inner.stream_cancellation.cancelled() => Err(fail(FailureCode::Overloaded, "the server stopped before the end")),
            };
            inner.record_response((workspace, app), &host, result.as_ref().err()).await;
        });
        answer
    }
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

/// The store's troubles are ours, not the app's.
fn unavailable(error: &StoreError) -> Failure {
    tracing::warn!(error = error as &dyn std::error::Error, "an app cannot be read");
    fail(FailureCode::Overloaded, "the app cannot be read now")
}

#[cfg(test)]
mod tests;
