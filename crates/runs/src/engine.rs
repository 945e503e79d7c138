//! The port through which app code runs, and the port through which it reaches outside.
//!
//! An [`Engine`] knows JavaScript and limits; it has no sockets and no secrets. Whatever app code asks of the
//! outside goes through the [`Host`], which the caller of the engine provides for this one invocation.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{future::BoxFuture, stream::BoxStream};
use kernel::{
    Timestamp,
    id::{AppId, RunId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Runs app code.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Runs one handler of the bundle to its end, or to a limit. An answer that comes piece by piece is given once it
    /// has begun, and [`StreamedResponse::completion`] tells of the end.
    ///
    /// Code of two workspaces never meets in one process. Everything the code says through `console.*` reaches
    /// [`Host::log`] before the end.
    async fn invoke(&self, invocation: Invocation, host: Arc<dyn Host>) -> Result<HandlerOutput, Failure>;

    /// Compiles the bundle without running a handler, to refuse code that does not parse or link.
    ///
    /// # Errors
    /// [`FailureCode::InvalidBundle`] with the message and place of the first error.
    async fn check(&self, workspace: WorkspaceId, bundle: Arc<Bundle>) -> Result<ExportedHandlers, Failure>;
}

/// Which handlers a bundle exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedHandlers {
    /// `export default { scheduled }`.
    pub scheduled: bool,
    /// `export default { fetch }`.
    pub fetch: bool,
}

/// What an app is made of: ES modules by path; `main.js` is the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The version it belongs to; a version's code never changes.
    pub version: VersionId,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
}

/// One call of app code.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Whose code it is.
    pub workspace: WorkspaceId,
    /// The app.
    pub app: AppId,
    /// The code.
    pub bundle: Arc<Bundle>,
    /// What stands in `env`.
    pub bindings: Bindings,
    /// Which handler, and its argument.
    pub handler: HandlerCall,
    /// What it may use up.
    pub limits: InvocationLimits,
}

/// The names that app code finds in `env`; what they stand for, only the [`Host`] knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bindings {
    /// `env.data.NAME`: the rows of a backend project.
    pub data: Vec<String>,
    /// `env.connections.NAME`: an outside service.
    pub connections: Vec<String>,
}

/// Which handler runs.
#[derive(Debug, Clone)]
pub enum HandlerCall {
    /// `scheduled(event, env, ctx)`.
    Scheduled(ScheduledEvent),
    /// `fetch(request, env, ctx)`.
    Fetch(HttpRequest),
}

/// The first argument of `scheduled`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledEvent {
    /// What started the run: `schedule`, `webhook`, `form`, `manual` or `event`.
    pub trigger: String,
    /// The input, any JSON; `null` when there is none.
    pub data: Box<RawValue>,
    /// When the run was meant to start.
    pub scheduled_time: Timestamp,
    /// The schedule that started it.
    pub cron: Option<String>,
    /// The run.
    pub run_id: RunId,
    /// 1 for the first attempt.
    pub attempt: u32,
}

/// A request, into an app or out of it. Header names are lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, upper case.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
}

/// An answer, out of an app or into it. Header names are lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// 200 to 599.
    pub status: u16,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
}

/// What one invocation may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvocationLimits {
    /// From start to end, waiting included. The process is killed shortly after, whatever it does.
    pub wall_time: Duration,
    /// Time on a processor.
    pub cpu_time: Duration,
    /// Bytes of JavaScript heap.
    pub memory_bytes: u64,
    /// Lines of log; one more line tells how many were dropped.
    pub log_lines: u32,
    /// Calls of the host.
    pub host_calls: u32,
    /// Bytes of a whole response body, or of what `scheduled` returns.
    pub output_bytes: u64,
    /// Bytes of a response body that comes piece by piece, in all.
    pub streamed_bytes: u64,
}

impl Default for InvocationLimits {
    fn default() -> Self {
        Self {
            wall_time: Duration::from_secs(30),
            cpu_time: Duration::from_secs(10),
            memory_bytes: 64 << 20,
            log_lines: 1000,
            host_calls: 1000,
            output_bytes: 6 << 20,
            streamed_bytes: 64 << 20,
        }
    }
}

/// What a handler gave back.
#[derive(Debug)]
pub enum HandlerOutput {
    /// What `scheduled` returned, as JSON; `null` for nothing.
    Scheduled(Box<RawValue>),
    /// What `fetch` answered.
    Response(HttpResponse),
    /// What `fetch` is answering.
    Streamed(StreamedResponse),
}

/// The pieces of a body as they come. A failure is the last of them: what came before is not all there is.
pub type BodyStream = BoxStream<'static, Result<Bytes, Failure>>;

/// An answer whose body comes piece by piece, from code that goes on.
pub struct StreamedResponse {
    /// 200 to 599.
    pub status: u16,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// The body. Whoever drops it wants no more: the code is told, and has a short time left.
    pub body: BodyStream,
    /// The end of the invocation, which may be later than the body's. Whoever drops it before stops the code at once.
    pub completion: BoxFuture<'static, Result<(), Failure>>,
}

impl fmt::Debug for StreamedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, headers, .. } = self;
        f.debug_struct("Streamed").field("status", status).field("headers", headers).finish_non_exhaustive()
    }
}

/// Why an invocation came to no good end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct Failure {
    /// The kind of failure.
    pub code: FailureCode,
    /// For people; up to 2,000 characters, with the place in the code where there is one.
    pub message: String,
    /// The [`HostError::code`] of the refusal that the code did not catch.
    pub host_code: Option<String>,
}

/// The kinds of [`Failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The code threw, or a promise was rejected.
    AppError,
    /// The handler waited longer than it may.
    Timeout,
    /// The code used more processor time than it may.
    CpuExceeded,
    /// The code used more memory than it may.
    MemoryExceeded,
    /// The code gave back more than it may.
    OutputTooLarge,
    /// The handler that was asked for is not exported.
    HandlerMissing,
    /// The code does not parse or link.
    InvalidBundle,
    /// The handler can never end: it awaits what nothing will settle.
    NeverSettled,
    /// The process that ran the code ended by itself.
    WorkerLost,
    /// No process could be had.
    Overloaded,
}

impl FailureCode {
    /// The name in a run's `errorCode`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AppError => "app_error",
            Self::Timeout => "timeout",
            Self::CpuExceeded => "cpu_exceeded",
            Self::MemoryExceeded => "memory_exceeded",
            Self::OutputTooLarge => "output_too_large",
            Self::HandlerMissing => "handler_missing",
            Self::InvalidBundle => "invalid_bundle",
            Self::NeverSettled => "never_settled",
            Self::WorkerLost => "worker_lost",
            Self::Overloaded => "overloaded",
        }
    }
}

/// How loud a line of log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LogLevel {
    /// `console.debug`.
    Debug,
    /// `console.log` and `console.info`.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`.
    Error,
}

/// What app code can ask of the outside. One host serves one invocation.
#[async_trait]
pub trait Host: Send + Sync {
    /// Takes a line of log; must not block.
    fn log(&self, level: LogLevel, message: String);

    /// `fetch(url, init)`.
    async fn fetch(&self, request: HttpRequest) -> Result<HttpResponse, HostError>;

    /// `env.connections.NAME.fetch(path, init)`: the URL of `request` holds only the path and query.
    async fn connection_fetch(&self, name: &str, request: HttpRequest) -> Result<HttpResponse, HostError>;

    /// `env.data.NAME.…`: one operation on a backend project's rows.
    async fn data(&self, name: &str, call: DataCall) -> Result<Box<RawValue>, HostError>;

    /// `ctx.approval({ title, detail })`: a person's answer, an [`Answer`](crate::approvals::ApprovalAnswer) as JSON. While
    /// there is none, this never comes back: whoever runs the code stops it and begins it again with the answer.
    async fn approval(&self, question: ApprovalQuestion) -> Result<Box<RawValue>, HostError> {
        let ApprovalQuestion { title, .. } = question;
        let message = format!("nobody can be asked here: {title}");
        Err(HostError { code: "approval_unavailable".to_owned(), message })
    }
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalQuestion {
    /// In a few words.
    pub title: String,
    /// What they should know.
    pub detail: Option<String>,
}

/// One operation on the rows of a backend project.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum DataCall {
    /// Rows that match `query`, a query string of the data API (`done=eq.true&order=id`).
    Select {
        /// The table.
        table: String,
        /// The query string, without `?`.
        query: String,
    },
    /// One row, or `null`.
    Get {
        /// The table.
        table: String,
        /// The row's id.
        id: String,
    },
    /// Inserts one row or an array of rows; gives back the inserted rows as an array.
    Insert {
        /// The table.
        table: String,
        /// A JSON object or an array of them.
        rows: Box<RawValue>,
    },
    /// Updates the rows that match `query`; gives back the updated rows.
    Update {
        /// The table.
        table: String,
        /// The query string, without `?`; at least one filter.
        query: String,
        /// A JSON object of column values.
        values: Box<RawValue>,
    },
    /// Deletes the rows that match `query`; gives back the deleted rows.
    Delete {
        /// The table.
        table: String,
        /// The query string, without `?`; at least one filter.
        query: String,
    },
}

/// What app code is told when the outside refuses or fails; it arrives as a thrown `Error` whose `code` is this one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{code}: {message}")]
pub struct HostError {
    /// Stable, for programs: `egress_denied`, `private_address`, `timeout`, `table_not_found`, …
    pub code: String,
    /// For people.
    pub message: String,
}
