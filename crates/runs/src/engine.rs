//! The port through which app code runs, and the port through which it reaches the outside.
//!
//! An [`Engine`] knows JavaScript and limits; it has no sockets and no secrets. Every request of app code to the
//! outside goes through the [`Host`], which the caller of the engine provides for one invocation.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, future::BoxFuture, stream::BoxStream};
use kernel::{
    RedirectMode, ShareId, Timestamp,
    id::{AppId, RunId, UserId, VersionId, WorkspaceId},
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// Runs app code.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Runs one handler of the bundle to its end, or to a limit. A streamed response is returned once it has begun, and
    /// [`StreamedResponse::completion`] resolves at the end.
    ///
    /// Code of two workspaces never shares a process. Everything that the code writes to `console.*` reaches
    /// [`Host::log`] before the end, and its processor time [`Host::record_cpu_time`], also that of code that was stopped.
    ///
    /// # Errors
    /// The failure of the code, or the limit that it exceeded.
    async fn invoke(&self, invocation: Invocation, host: Arc<dyn Host>) -> Result<HandlerOutput, Failure>;

    /// Compiles the bundle and runs its top level, to refuse code that does not parse or link. No timer fires and no call
    /// leaves meanwhile. Checks that wait for each other are shared out by person, or by workspace for none.
    ///
    /// # Errors
    /// [`FailureCode::InvalidBundle`] with the message and location of the first error.
    async fn check(
        &self,
        workspace: WorkspaceId,
        person: Option<UserId>,
        bundle: Arc<Bundle>,
    ) -> Result<ExportedHandlers, Failure>;

    /// Charges a share for processor time that was used for its code outside of the code's process.
    fn charge_cpu_time(&self, share: ShareId, used: Duration) {
        let _ = (share, used);
    }
}

/// Handlers that a bundle exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedHandlers {
    /// True for `export default { scheduled }`.
    pub scheduled: bool,
    /// True for `export default { fetch }`.
    pub fetch: bool,
}

/// Code of an app: ES modules by path. `main.js` is the entry point.
#[derive(Debug, Clone)]
pub struct Bundle {
    version: VersionId,
    files: BTreeMap<String, String>,
    digest: OnceLock<BundleDigest>,
}

/// SHA-256 of the paths and texts of a bundle. Equal code has equal digests, whatever version it belongs to.
pub type BundleDigest = [u8; 32];

impl Bundle {
    /// Makes a bundle of the source text by path. The code of a version never changes.
    #[must_use]
    pub fn new(version: VersionId, files: BTreeMap<String, String>) -> Self {
        Self { version, files, digest: OnceLock::new() }
    }

    /// Returns the version that the code belongs to.
    #[must_use]
    pub fn version(&self) -> VersionId {
        self.version
    }

    /// Returns the source text by path.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Returns the digest of the code, which is computed once.
    pub fn digest(&self) -> BundleDigest {
        *self.digest.get_or_init(|| {
            let mut digest = Sha256::new();
            for text in self.files.iter().flat_map(|(path, source)| [path, source]) {
                digest.update((text.len() as u64).to_le_bytes());
                digest.update(text);
            }
            digest.finalize().into()
        })
    }
}

/// One call of app code.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// Share whose slot and processor time it takes: that of the person who created the workspace.
    pub share: ShareId,
    /// App that the code belongs to.
    pub app: AppId,
    /// Code to run.
    pub bundle: Arc<Bundle>,
    /// Names in `env`.
    pub bindings: Bindings,
    /// Handler to run, and its argument.
    pub handler: HandlerCall,
    /// Limits of this invocation.
    pub limits: InvocationLimits,
}

/// Names that app code finds in `env`. Only the [`Host`] knows what they stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bindings {
    /// Names in `env.data`: the rows of a backend project each.
    pub data: Vec<String>,
    /// Names in `env.connections`: an outside service each.
    pub connections: Vec<String>,
    /// Names in `env.secrets`.
    pub secrets: Vec<SecretBinding>,
}

/// A secret in `env.secrets`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretBinding {
    /// Name.
    pub name: String,
    /// Value, if the code gets it as a string; otherwise it gets a handle.
    pub clear: Option<String>,
}

impl fmt::Debug for SecretBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretBinding").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A use of a key. The names are usages of the Web Cryptography API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyUse {
    /// Signs.
    Sign,
    /// Verifies signatures.
    Verify,
    /// Encrypts.
    Encrypt,
    /// Decrypts.
    Decrypt,
    /// Derives bits and other keys.
    DeriveBits,
}

kernel::names! {
    KeyUse {
        Sign = "sign",
        Verify = "verify",
        Encrypt = "encrypt",
        Decrypt = "decrypt",
        DeriveBits = "deriveBits",
    }
}

/// A handler and its argument.
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
    /// Trigger of the run: `schedule`, `webhook`, `form`, `manual` or `event`.
    pub trigger: String,
    /// Input, any JSON; `null` if there is none.
    pub data: Box<RawValue>,
    /// Intended start of the run.
    pub scheduled_time: Timestamp,
    /// Cron expression of the schedule that triggered it.
    pub cron: Option<String>,
    /// Id of the run.
    pub run_id: RunId,
    /// Number of the attempt, 1 for the first.
    pub attempt: u32,
}

/// A request to an app. Header names are lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// Method, in upper case.
    pub method: String,
    /// Absolute URL.
    pub url: String,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// Complete body.
    pub body: Bytes,
}

/// A response of an app. Header names are lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// Status, 200 to 599.
    pub status: u16,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// Complete body.
    pub body: Bytes,
}

/// A request of app code. Header names are lower case.
#[derive(Debug)]
pub struct FetchRequest {
    /// Method, in upper case.
    pub method: String,
    /// Absolute URL; of a request through a connection only a path and a query.
    pub url: String,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: FetchBody,
    /// Redirect mode.
    pub redirect: RedirectMode,
}

/// A response to app code. Header names are lower case.
#[derive(Debug)]
pub struct FetchResponse {
    /// Status, 200 to 599.
    pub status: u16,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: FetchBody,
    /// URL of the response if redirects were followed.
    pub redirected_to: Option<String>,
}

/// The body of a request of app code, or of the response to it.
pub enum FetchBody {
    /// The whole body.
    Complete(Bytes),
    /// Pieces as they come. An error is the last item, and means that the body is incomplete. Dropping the stream stops the
    /// request.
    Stream(BoxStream<'static, Result<Bytes, HostError>>),
}

impl FetchBody {
    /// Returns the whole body, of at most `max` bytes.
    ///
    /// # Errors
    /// The error at which the body broke off; `response_too_large` for a longer one.
    pub async fn collect(self, max: usize) -> Result<Bytes, HostError> {
        let mut pieces = match self {
            Self::Complete(body) => return Ok(body),
            Self::Stream(pieces) => pieces,
        };
        let mut body = BytesMut::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            if body.len() + piece.len() > max {
                let message = format!("the body is longer than {max} bytes");
                return Err(HostError { code: "response_too_large".to_owned(), message });
            }
            body.extend_from_slice(&piece);
        }
        Ok(body.freeze())
    }
}

impl fmt::Debug for FetchBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(body) => f.debug_tuple("Complete").field(&body.len()).finish(),
            Self::Stream(_) => f.debug_tuple("Stream").finish_non_exhaustive(),
        }
    }
}

impl From<HttpResponse> for FetchResponse {
    fn from(HttpResponse { status, headers, body }: HttpResponse) -> Self {
        Self { status, headers, body: FetchBody::Complete(body), redirected_to: None }
    }
}

/// Limits of one invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvocationLimits {
    /// Time from start to end, including waits. The process is killed shortly after, whatever it does.
    pub wall_time: Duration,
    /// Processor time.
    pub cpu_time: Duration,
    /// Bytes of JavaScript heap.
    pub memory_bytes: u64,
    /// Log lines. One more line tells the number of those that were dropped.
    pub log_lines: u32,
    /// Calls of the [`Host`].
    pub host_calls: u32,
    /// Bytes of a complete response body, or of the value that `scheduled` returns.
    pub output_bytes: u64,
    /// Bytes of a streamed response body, in total.
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

/// Result of a handler.
#[derive(Debug)]
pub enum HandlerOutput {
    /// Value that `scheduled` returned, as JSON; `null` if it returned nothing.
    Scheduled(Box<RawValue>),
    /// Complete response of `fetch`.
    Response(HttpResponse),
    /// Response of `fetch` that goes on.
    Streamed(StreamedResponse),
}

/// Pieces of a body as they come. A failure is the last item, and means that the body is incomplete.
pub type BodyStream = BoxStream<'static, Result<Bytes, Failure>>;

/// A response whose body comes in pieces, while the code goes on.
pub struct StreamedResponse {
    /// Status, 200 to 599.
    pub status: u16,
    /// Headers in order; a name may repeat.
    pub headers: Vec<(String, String)>,
    /// Body. Dropping it tells the code that no more is wanted, and leaves it a short time.
    pub body: BodyStream,
    /// Resolves at the end of the invocation, which may be later than the body's. Dropping it stops the code at once.
    pub completion: BoxFuture<'static, Result<(), Failure>>,
}

impl fmt::Debug for StreamedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, headers, .. } = self;
        f.debug_struct("StreamedResponse")
            .field("status", status)
            .field("headers", headers)
            .finish_non_exhaustive()
    }
}

/// Failure of an invocation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct Failure {
    /// Kind of failure.
    pub code: FailureCode,
    /// Message for people; at most 2,000 characters, with the location in the code if it is known.
    pub message: String,
    /// [`HostError::code`] of the refusal that the code did not catch.
    pub host_code: Option<String>,
}

/// Kinds of [`Failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The code threw, or a promise was rejected.
    AppError,
    /// The invocation took longer than [`InvocationLimits::wall_time`].
    Timeout,
    /// The code used more than [`InvocationLimits::cpu_time`].
    CpuExceeded,
    /// The code used more than [`InvocationLimits::memory_bytes`].
    MemoryExceeded,
    /// The result was larger than its limit in [`InvocationLimits`].
    OutputTooLarge,
    /// The bundle does not export the handler.
    HandlerMissing,
    /// The code does not parse or link.
    InvalidBundle,
    /// The handler can never end, because it awaits a promise that nothing will settle.
    NeverSettled,
    /// The process that ran the code exited on its own.
    WorkerLost,
    /// No process was available.
    Overloaded,
}

kernel::names! {
    FailureCode {
        AppError = "app_error",
        Timeout = "timeout",
        CpuExceeded = "cpu_exceeded",
        MemoryExceeded = "memory_exceeded",
        OutputTooLarge = "output_too_large",
        HandlerMissing = "handler_missing",
        InvalidBundle = "invalid_bundle",
        NeverSettled = "never_settled",
        WorkerLost = "worker_lost",
        Overloaded = "overloaded",
    }
}

/// Severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

/// The outside, as app code reaches it. One host serves one invocation.
#[async_trait]
pub trait Host: Send + Sync {
    /// Takes a log line. Must not block.
    fn log(&self, level: LogLevel, message: String);

    /// Takes the processor time that the code used, once for each invocation that was given to a process: before
    /// [`Engine::invoke`] returns or [`StreamedResponse::completion`] resolves, and soon after one of them was dropped. Must not
    /// block.
    fn record_cpu_time(&self, used: Duration) {
        let _ = used;
    }

    /// Serves `fetch(url, init)`.
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, HostError>;

    /// Serves `env.connections.NAME.fetch(path, init)`. The URL of `request` has only a path and a query.
    async fn connection_fetch(&self, name: &str, request: FetchRequest) -> Result<FetchResponse, HostError>;

    /// Serves `env.data.NAME.…`: one operation on the rows of a backend project.
    async fn data(&self, name: &str, call: DataCall) -> Result<Box<RawValue>, HostError>;

    /// Serves `crypto.subtle.importKey` of a handle in `env.secrets`: returns the value, which becomes a key with these uses
    /// and is never shown to the code.
    async fn secret_key(&self, name: &str, uses: &[KeyUse]) -> Result<SecretString, HostError> {
        let _ = uses;
        let message = format!("the secret {name} is not available here");
        Err(HostError { code: "secret_unavailable".to_owned(), message })
    }

    /// Serves `ctx.approval({ title, detail })`: returns the answer of a person, an
    /// [`ApprovalAnswer`](crate::approvals::ApprovalAnswer) as JSON. While there is none, this never returns: the
    /// caller of the engine stops the code, and starts it again with the answer.
    async fn approval(&self, question: ApprovalQuestion) -> Result<Box<RawValue>, HostError> {
        let ApprovalQuestion { title, .. } = question;
        let message = format!("approvals are not available here: {title}");
        Err(HostError { code: "approval_unavailable".to_owned(), message })
    }
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalQuestion {
    /// Question in a few words.
    pub title: String,
    /// Information for the decision.
    pub detail: Option<String>,
}

/// One operation on the rows of a backend project.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum DataCall {
    /// Returns the rows that match a query.
    Select {
        /// Name of the table.
        table: String,
        /// Query string of the data API, without `?`, such as `done=eq.true&order=id`.
        query: String,
    },
    /// Returns one row, or `null`.
    Get {
        /// Name of the table.
        table: String,
        /// Id of the row.
        id: String,
    },
    /// Inserts one row or an array of rows, and returns the inserted rows as an array.
    Insert {
        /// Name of the table.
        table: String,
        /// JSON object, or an array of them.
        rows: Box<RawValue>,
    },
    /// Updates the rows that match `query`, and returns the updated rows.
    Update {
        /// Name of the table.
        table: String,
        /// Query string, without `?`; at least one filter.
        query: String,
        /// JSON object of column values.
        values: Box<RawValue>,
    },
    /// Deletes the rows that match `query`, and returns the deleted rows.
    Delete {
        /// Name of the table.
        table: String,
        /// Query string, without `?`; at least one filter.
        query: String,
    },
}

/// Refusal or failure of the outside. App code gets it as a thrown `Error` with this `code`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{code}: {message}")]
pub struct HostError {
    /// Stable code for programs: `egress_denied`, `private_address`, `timeout`, `table_not_found`, …
    pub code: String,
    /// Message for people.
    pub message: String,
}
