//! Runs one version of an app, with its host.

mod content;
mod egress;
mod host;
mod record;
mod rows;

use std::{mem, sync::Arc};

use async_trait::async_trait;
use connections::{Outbound, Ports, egress::AllowedHost};
use kernel::{
    Clock, Randomness, StoreError,
    events::RefusedCall,
    id::{AppId, VersionId, WorkspaceId},
};
use observability::{LogLevel, LogSource, NewLogLine};
use runs::{
    engine::{
        self, Bindings, Engine, Entry, Event, Failure, FailureCode, HttpRequest, Invocation, Limits, Output,
        Streamed,
    },
    queue::{AppStanding, ClaimedRun, Conclusion, FinishedRun, RunFault, RunLine, conclude_failure},
    runs::{Step, StepStatus},
    serve::{Answer, AppServer},
};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Reads, dispatcher::Runner};
use content::{Content, Contents};
use host::{AppHost, Begun};
use record::{RUN_LOG, Record, VISIT_LOG, step};

/// Claims beyond the first and the retries that a run may use up on lost leases and on our own troubles.
const SPARE_ATTEMPTS: u8 = 3;
/// Answers over HTTP whose lines are being written at once; the next answer waits for its own lines.
const LOG_WRITES: u32 = 64;
/// The label of every run's first step.
const RUN_STEP: &str = "Run main.js";

/// What the executor works with.
pub struct Outside {
    /// Runs the code.
    pub engine: Arc<dyn Engine>,
    /// The rows of backend projects.
    pub rows: Arc<backend_data::Engine>,
    /// The way out.
    pub outbound: Arc<dyn Outbound>,
    /// The store.
    pub reads: Arc<dyn Reads>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance, for when to try again.
    pub random: Arc<dyn Randomness>,
}

/// What the operator decides.
#[derive(Debug, Clone, Default)]
pub struct ExecutorSettings {
    /// Ports that may be dialled beside 443.
    pub ports: Ports,
    /// Hosts inside the own network that apps may reach.
    pub allowed: Vec<AllowedHost>,
    /// What one invocation may use up.
    pub limits: Limits,
}

/// Runs app code: what the queue holds, and what asks over HTTP. Clones are one executor.
#[derive(Clone)]
pub struct Executor(Arc<Inner>);

struct Inner {
    engine: Arc<dyn Engine>,
    rows: Arc<backend_data::Engine>,
    outbound: Arc<dyn Outbound>,
    reads: Arc<dyn Reads>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
    settings: ExecutorSettings,
    contents: Contents,
    log_writes: Arc<Semaphore>,
    /// Answers that are being streamed.
    streams: TaskTracker,
    /// Whether they are to be cut off.
    cut: CancellationToken,
}

impl Executor {
    /// An executor.
    #[must_use]
    pub fn new(outside: Outside, settings: ExecutorSettings) -> Self {
        let Outside { engine, rows, outbound, reads, clock, random } = outside;
        let contents = Contents::new(Arc::clone(&reads));
        let log_writes = Arc::new(Semaphore::new(LOG_WRITES as usize));
        let inner = Inner {
            engine,
            rows,
            outbound,
            reads,
            clock,
            random,
            settings,
            contents,
            log_writes,
            streams: TaskTracker::new(),
            cut: CancellationToken::new(),
        };
        Self(Arc::new(inner))
    }

    /// Cuts off every answer that is still being streamed; for the shutdown.
    pub fn cut_streams(&self) {
        self.0.cut.cancel();
    }

    /// Waits until all answers over HTTP have ended and their lines are written; for the shutdown.
    pub async fn flush(&self) {
        self.0.streams.close();
        self.0.streams.wait().await;
        // Whoever holds them all knows that nobody writes.
        drop(self.0.log_writes.acquire_many(LOG_WRITES).await);
    }
}

/// Why an attempt did not come to running code.
enum Unrunnable {
    /// It never will.
    For(&'static str, &'static str),
    /// The store cannot answer now.
    Store(StoreError),
}

impl From<StoreError> for Unrunnable {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Inner {
    /// The version of a claimed run, if it is to run at all.
    async fn admit(&self, run: &ClaimedRun) -> Result<Arc<Content>, Unrunnable> {
        if run.tries() > u32::from(run.retries) + u32::from(SPARE_ATTEMPTS) + 1 {
            let why = "the run was begun again and again, and never came to an end";
            return Err(Unrunnable::For("lease_lost", why));
        }
        let gone = Unrunnable::For("no_version", "the app has no version to run");
        let Some(version) = run.version else { return Err(gone) };
        match run.standing {
            AppStanding::Ready => {}
            AppStanding::Paused => return Err(Unrunnable::For("app_paused", "the app is paused")),
            AppStanding::Gone => return Err(Unrunnable::For("app_deleted", "the app is gone")),
        }
        self.contents.version(run.workspace, run.app, version).await?.ok_or(gone)
    }

    /// A host for one invocation, and the names the code finds in `env`.
    async fn host(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        content: &Arc<Content>,
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
        content: &Content,
        bindings: Bindings,
        entry: Entry,
        host: &Arc<AppHost>,
    ) -> Result<Output, Failure> {
        let bundle = Arc::clone(&content.bundle);
        let limits = self.settings.limits;
        let invocation = Invocation { workspace, app, bundle, bindings, entry, limits };
        self.engine.invoke(invocation, Arc::clone(host) as Arc<dyn engine::Host>).await
    }

    fn conclude(&self, run: &ClaimedRun, failure: &Failure, record: &Record) -> Conclusion {
        let refused = failure.host_code.as_deref().is_some_and(|code| record.has_refused(code));
        // That no process could be had is no failure of the app, so it does not cost it its retries.
        let retries = match failure.code {
            FailureCode::Overloaded => run.retries.saturating_add(SPARE_ATTEMPTS),
            _ => run.retries,
        };
        conclude_failure(failure, refused, run.tries(), retries, self.clock.now(), &*self.random)
    }

    fn unrunnable(&self, run: &ClaimedRun, why: Unrunnable) -> FinishedRun {
        let conclusion = match why {
            Unrunnable::For(code, message) => {
                Conclusion::Failed(RunFault { code: code.to_owned(), message: message.to_owned() })
            }
            Unrunnable::Store(error) => {
                self.conclude(run, &unavailable(&error), &Record::new(&self.settings.limits, RUN_LOG))
            }
        };
        self.finished(run, conclusion, Ending::default())
    }

    fn finished(&self, run: &ClaimedRun, conclusion: Conclusion, ending: Ending) -> FinishedRun {
        let Ending { steps, lines, minutes_saved } = ending;
        FinishedRun {
            id: run.id,
            workspace: run.workspace,
            app: run.app,
            automation: run.automation,
            attempt: run.attempt,
            at: self.clock.now(),
            started_at: run.started_at,
            conclusion,
            minutes_saved,
            steps,
            lines,
        }
    }

    /// Keeps what an answer over HTTP leaves: its lines, and why it was none.
    async fn keep_visit(
        self: &Arc<Self>,
        (workspace, app): (WorkspaceId, AppId),
        host: &AppHost,
        failure: Option<&Failure>,
    ) {
        let record = host.take_record();
        let refused = record.refused_calls();
        let mut lines: Vec<_> = record.lines.into_iter().map(log_line).collect();
        if let Some(failure) = failure {
            let now = self.clock.now();
            lines.push(NewLogLine::new(now, LogLevel::Error, LogSource::Platform, failure.to_string()));
        }
        self.keep_lines(workspace, app, lines, refused).await;
    }

    /// Writes the lines of an answer, without the answer waiting unless very many are being written.
    async fn keep_lines(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        app: AppId,
        lines: Vec<NewLogLine>,
        refused: Vec<RefusedCall>,
    ) {
        if lines.is_empty() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.log_writes).acquire_owned().await else { return };
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = inner.reads.append_log(workspace, app, lines, refused).await {
                tracing::warn!(%app, error = &error as &dyn std::error::Error, "lines of log were lost");
            }
            drop(permit);
        });
    }
}

/// What an attempt leaves beside its conclusion.
#[derive(Default)]
struct Ending {
    steps: Vec<Step>,
    lines: Vec<RunLine>,
    minutes_saved: f64,
}

#[async_trait]
impl Runner for Executor {
    async fn run(&self, mut run: ClaimedRun) -> FinishedRun {
        let inner = &self.0;
        let content = match inner.admit(&run).await {
            Ok(content) => content,
            Err(why) => return inner.unrunnable(&run, why),
        };
        let (host, bindings) = match inner.host(run.workspace, &content, RUN_LOG).await {
            Ok(host) => host,
            Err(error) => return inner.unrunnable(&run, error.into()),
        };
        let entry = Entry::Scheduled(Event {
            trigger: run.trigger.as_str().to_owned(),
            data: mem::take(&mut run.input),
            scheduled_time: run.scheduled_for,
            cron: run.cron.take(),
            run_id: run.id,
            attempt: run.tries(),
        });
        host.answer_with(mem::take(&mut run.answers));
        let begun = Begun::at(inner.clock.now());
        let invocation = inner.invoke((run.workspace, run.app), &content, bindings, entry, &host);
        // Code that asks a person is stopped where it is, whatever it would have caught.
        let result = tokio::select! {
            biased;
            result = invocation => Ok(result),
            asked = host.asked() => Err(asked),
        };
        let span = begun.until_now();
        let record = host.take_record();
        let result = match result {
            Ok(result) => result,
            Err((number, question)) => {
                let approval = kernel::Id::generate(&*inner.random, inner.clock.now());
                let asked = step(RUN_STEP.to_owned(), StepStatus::Waiting, span, question.title.clone());
                let (steps, lines) = record.into_steps(asked);
                let conclusion = Conclusion::Wait { approval, number, question };
                return inner.finished(&run, conclusion, Ending { steps, lines, minutes_saved: 0.0 });
            }
        };
        let (conclusion, status, detail) = match result {
            Ok(_) => (Conclusion::Succeeded, StepStatus::Ok, None),
            Err(failure) => {
                let conclusion = inner.conclude(&run, &failure, &record);
                let blocked = matches!(conclusion, Conclusion::Blocked(_));
                let status = if blocked { StepStatus::Blocked } else { StepStatus::Failed };
                (conclusion, status, Some(failure.code.as_str().to_owned()))
            }
        };
        let saved = content.manifest.roi.manual_minutes_per_run;
        let minutes_saved = if conclusion == Conclusion::Succeeded { saved } else { 0.0 };
        let (steps, lines) = record.into_steps(step(RUN_STEP.to_owned(), status, span, detail));
        inner.finished(&run, conclusion, Ending { steps, lines, minutes_saved })
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
    ) -> Result<Answer, Failure> {
        let inner = &self.0;
        let found = inner.contents.version(workspace, app, version).await;
        let content = found
            .map_err(|error| unavailable(&error))?
            .ok_or_else(|| fail(FailureCode::InvalidBundle, "the app has no such version"))?;
        let (host, bindings) =
            inner.host(workspace, &content, VISIT_LOG).await.map_err(|error| unavailable(&error))?;
        let result = inner.invoke((workspace, app), &content, bindings, Entry::Fetch(request), &host).await;
        let (answer, end) = match result {
            Ok(Output::Streamed(Streamed { status, headers, body, end })) => {
                (Ok(Answer::Streamed { status, headers, body }), Some(end))
            }
            Ok(Output::Response(response)) => (Ok(Answer::Whole(response)), None),
            Ok(Output::Scheduled(_)) => {
                (Err(fail(FailureCode::WorkerLost, "the engine gave no response")), None)
            }
            Err(failure) => (Err(failure), None),
        };
        let Some(end) = end else {
            inner.keep_visit((workspace, app), &host, answer.as_ref().err()).await;
            return answer;
        };
        // What it leaves is kept at its end, whether or not the visitor stays for it.
        let inner = Arc::clone(inner);
        self.0.streams.spawn(async move {
            let result = tokio::select! {
                biased;
                result = end => result,
                () = inner.cut.cancelled() => Err(fail(FailureCode::Overloaded, "the server stopped before the end")),
            };
            inner.keep_visit((workspace, app), &host, result.as_ref().err()).await;
        });
        answer
    }
}

fn log_line(line: RunLine) -> NewLogLine {
    let level = match line.level {
        engine::LogLevel::Debug => LogLevel::Debug,
        engine::LogLevel::Info => LogLevel::Info,
        engine::LogLevel::Warn => LogLevel::Warn,
        engine::LogLevel::Error => LogLevel::Error,
    };
    let source = if line.by_gate { LogSource::Gate } else { LogSource::App };
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
