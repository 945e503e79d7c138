//! The messages between the parent and a worker process. A frame is a length (four bytes, little endian) and a postcard
//! message, on the worker's stdin and stdout. The body of a buffered response follows its message in the frame, so that it is
//! never copied out of it.
//!
//! JSON travels as text and is checked where it arrives. The parent trusts nothing that a worker sends.

use std::{collections::BTreeMap, fmt, path::Path, time::Duration};

use bytes::Bytes;
use kernel::RedirectMode;
use runs::engine::{
    Bindings, BundleDigest, Failure, FailureCode, HostError, HttpRequest, HttpResponse, InvocationLimits,
    KeyUse, LogLevel,
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::program_build::ProgramBuild;

/// Bytes of a frame without its length, at most, in either direction.
pub(crate) const MAX_FRAME: usize = 32 << 20;
/// Bytes of one log line, at most.
pub(crate) const MAX_LOG_LINE: usize = 16 << 10;
/// Bytes of a failure's message, at most.
pub(crate) const MAX_FAILURE_MESSAGE: usize = 2000;
/// Bytes of a streamed body that the worker may send before some are acknowledged.
pub(crate) const STREAM_WINDOW: u32 = 256 << 10;
/// Bytes of one chunk of a streamed body, at most.
pub(crate) const MAX_CHUNK: usize = 64 << 10;
/// Bytes of the streamed body of a request of code, at most.
pub(crate) const MAX_REQUEST_BODY: usize = 1 << 20;
/// Time that the code of a streamed response may go on after its reader is gone.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_secs(3);
/// Processor time after which an invocation is a long computation, which yields to short ones.
pub(crate) const LONG_COMPUTATION: Duration = Duration::from_millis(20);
/// Bytes of memory that one invocation may ask for, at most. The process itself is limited to 1 GiB of address space.
const MAX_MEMORY: u64 = 512 << 20;
/// Processor time that one invocation may ask for, at most.
pub(crate) const MAX_CPU: Duration = Duration::from_secs(120);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// Compiles a bundle, in a process that runs no job before or after.
    Compile { files: BTreeMap<String, String>, limits: JobLimits },
    /// Runs a job. The next one comes after its [`FromWorker::Completed`].
    Invoke(Box<Job>),
    /// The result of a [`FromWorker::Call`].
    CallResult { call: u32, result: Result<HostCallOutput, HostError> },
    /// The next bytes of a response's body, as a [`FromWorker::ReadBody`] asked for; none at its end.
    BodyPart { call: u32, part: Result<Bytes, HostError> },
    /// Bytes of the streamed body that the reader took.
    WindowUpdate(u32),
    /// Tells that the reader of the streamed body is gone.
    CancelStream,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The code to run.
    pub(crate) bundle: BundleDigest,
    /// [`CompiledModules`], encoded; `None` if the worker has those of this code already.
    pub(crate) bytecode: Option<Bytes>,
    /// Code to drop. The parent decides, so that the worker needs no eviction policy.
    pub(crate) evict: Option<BundleDigest>,
    pub(crate) bindings: Bindings,
    pub(crate) task: Task,
    pub(crate) limits: JobLimits,
    /// True if the worker yields to other processes from its first instruction.
    pub(crate) is_low_priority: bool,
}

/// The modules of a bundle as bytecode. The parent only stores them and passes them on: QuickJS trusts bytecode, so they come
/// from a process that had run no app code.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CompiledModules {
    /// Name of the entry module.
    pub(crate) entry: String,
    /// Bytecode by name.
    pub(crate) modules: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Links the bundle, runs its top level, and looks at its exports.
    Check,
    /// Calls `scheduled` with an event in JSON.
    Scheduled(String),
    /// Calls `fetch` with a request.
    Fetch(Request),
}

/// [`InvocationLimits`] in numbers: microseconds, bytes and counts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct JobLimits {
    pub(crate) wall_micros: u64,
    pub(crate) cpu_micros: u64,
    pub(crate) memory: u64,
    pub(crate) log_lines: u32,
    pub(crate) host_calls: u32,
    pub(crate) output: u64,
    pub(crate) streamed: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostCallOutput {
    Response(FetchedHead, Bytes),
    /// A response whose body is read by [`FromWorker::ReadBody`].
    Head(FetchedHead),
    Json(String),
    /// A secret, and the uses that its key may have.
    Secret {
        text: SecretText,
        uses: Vec<KeyUse>,
    },
}

/// A response to a request of code, without its body.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FetchedHead {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) redirected_to: Option<String>,
}

/// The text of a secret.
#[derive(Serialize, Deserialize)]
pub(crate) struct SecretText(pub(crate) Zeroizing<String>);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// The first message of a process.
    Ready {
        confinement: Confinement,
        build: ProgramBuild,
    },
    /// Tells that the types of the files to compile are stripped, if [`has_typescript`] says that there are any.
    TypesStripped,
    /// Responds to [`ToWorker::Compile`] with [`CompiledModules`], encoded.
    Compiled(Result<Bytes, Fault>),
    Log {
        level: LogLevel,
        message: String,
    },
    Call {
        id: u32,
        call: HostCall,
    },
    /// Stops a call whose result, or the body of whose response, is not wanted any more.
    CancelCall(u32),
    /// The next bytes of a request's body; between 1 and [`MAX_CHUNK`] of them.
    RequestPart {
        call: u32,
        bytes: Bytes,
    },
    /// Ends the body of a request.
    RequestEnd(u32),
    /// Asks for the next bytes of a response's body.
    ReadBody(u32),
    /// Begins a streamed response; at most once, and only in a [`Task::Fetch`].
    Head(ResponseHead),
    /// The next bytes of the body; between 1 and [`MAX_CHUNK`] of them.
    Chunk(Bytes),
    /// Ends the body; the code may still go on.
    BodyEnd,
    /// The last message of a job.
    Completed(JobResult),
}

impl FromWorker {
    /// Decodes the message of a frame; `None` if it is not one of a worker.
    pub(crate) fn decode(frame: &Bytes) -> Option<Self> {
        let (mut message, rest) = postcard::take_from_bytes(frame).ok()?;
        if let Self::Completed(JobResult { result: Ok(Outcome::Response(response)), .. }) = &mut message {
            response.body = frame.slice_ref(rest);
        } else if !rest.is_empty() {
            return None;
        }
        Some(message)
    }

    /// Appends the message's frame, as [`encode_frame`] does.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> bool {
        let body = match self {
            Self::Completed(JobResult { result: Ok(Outcome::Response(response)), .. }) => &response.body[..],
            _ => &[],
        };
        encode_frame_with_body(out, self, body)
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostCall {
    Fetch {
        connection: Option<String>,
        request: Request,
        redirect: RedirectMode,
        /// True if the body follows in [`FromWorker::RequestPart`].
        is_streamed: bool,
    },
    Data {
        project: String,
        op: String,
        table: String,
        key: String,
        values: String,
    },
    Approval {
        title: String,
        detail: Option<String>,
    },
    Secret {
        name: String,
        uses: Vec<KeyUse>,
    },
}

/// A response of an app that is not streamed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BufferedResponse {
    pub(crate) head: ResponseHead,
    /// Follows the message in the frame.
    #[serde(skip)]
    pub(crate) body: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct JobResult {
    pub(crate) result: Result<Outcome, Fault>,
    /// True if the worker keeps the bytecode.
    pub(crate) is_cached: bool,
    /// True if the process has used half of its processor time and should be replaced.
    pub(crate) should_retire: bool,
    /// Processor time of the job. The parent's own measure has what the process did to clean up after the job before, too.
    pub(crate) cpu_micros: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Handlers {
        scheduled: bool,
        fetch: bool,
    },
    Json(String),
    Response(BufferedResponse),
    /// A response that was sent in chunks before.
    Streamed,
}

/// A [`Failure`] on the wire.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: FailureCode,
    pub(crate) message: String,
    pub(crate) host_code: Option<String>,
}

impl Fault {
    pub(crate) fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), host_code: None }
    }
}

/// The layers of confinement around a worker process, each `true` if it is in force on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The process cannot gain privileges (`no_new_privs` of prctl(2)).
    pub no_new_privs: bool,
    /// A seccomp filter allows a fixed list of system calls.
    pub seccomp: bool,
    /// A user namespace of its own.
    pub user_namespace: bool,
    /// An empty network namespace.
    pub network_namespace: bool,
    /// The process has no capability, not even in its own namespace.
    pub no_capabilities: bool,
    /// All resource limits are set (setrlimit(2)).
    pub rlimits: bool,
    /// The kernel kills the process when its parent ends.
    pub dies_with_parent: bool,
}

impl Confinement {
    /// Returns the names of the layers that are missing, with what each needs.
    #[must_use]
    pub fn missing_layers(&self) -> Vec<&'static str> {
        let layers = [
            (self.no_new_privs, "no_new_privs"),
            (self.seccomp, "seccomp (the kernel needs CONFIG_SECCOMP_FILTER)"),
            (
                self.user_namespace,
                "user namespace (the container's seccomp profile, systemd's RestrictNamespaces or user.max_user_namespaces forbids it)",
            ),
            (self.network_namespace, "network namespace (needs the user namespace)"),
            (self.no_capabilities, "dropped capabilities"),
            (self.rlimits, "resource limits"),
            (self.dies_with_parent, "parent death signal"),
        ];
        layers.iter().filter(|(stands, _)| !stands).map(|(_, name)| *name).collect()
    }
}

impl From<Fault> for Failure {
    fn from(Fault { code, mut message, host_code }: Fault) -> Self {
        truncate_text(&mut message, MAX_FAILURE_MESSAGE);
        Self { code, message, host_code }
    }
}

impl From<&InvocationLimits> for JobLimits {
    /// Cuts processor time and memory to their maxima.
    fn from(limits: &InvocationLimits) -> Self {
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX >> 1);
        Self {
            wall_micros: micros(limits.wall_time),
            cpu_micros: micros(limits.cpu_time.min(MAX_CPU)),
            memory: limits.memory_bytes.min(MAX_MEMORY),
            log_lines: limits.log_lines,
            host_calls: limits.host_calls,
            output: limits.output_bytes,
            streamed: limits.streamed_bytes,
        }
    }
}

impl From<HttpRequest> for Request {
    fn from(from: HttpRequest) -> Self {
        Self { method: from.method, url: from.url, headers: from.headers, body: from.body }
    }
}

impl From<BufferedResponse> for HttpResponse {
    fn from(BufferedResponse { head, body }: BufferedResponse) -> Self {
        Self { status: head.status, headers: head.headers, body }
    }
}

/// Returns true if types have to be stripped from some of the files.
pub(crate) fn has_typescript(files: &BTreeMap<String, String>) -> bool {
    files.keys().any(|name| is_typescript(name))
}

/// Returns true for modules in TypeScript; declarations (`.d.ts`) are none.
pub(crate) fn is_typescript(name: &str) -> bool {
    has_extension(name, &["ts", "mts"]) && !name.ends_with(".d.ts") && !name.ends_with(".d.mts")
}

pub(crate) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

/// Appends one frame. Appends nothing and returns false if the message does not fit into a frame.
pub(crate) fn encode_frame(out: &mut Vec<u8>, message: &impl Serialize) -> bool {
    encode_frame_with_body(out, message, &[])
}

/// Appends one frame of a message and the body that follows it, or nothing, as [`encode_frame`] does.
fn encode_frame_with_body(out: &mut Vec<u8>, message: &impl Serialize, body: &[u8]) -> bool {
    let Ok(message) = postcard::to_stdvec(message) else { return false };
    let length = message.len() + body.len();
    let Some(length) = u32::try_from(length).ok().filter(|_| length <= MAX_FRAME) else {
        return false;
    };
    out.extend(length.to_le_bytes());
    out.extend(message);
    out.extend_from_slice(body);
    true
}

/// Cuts a text to at most `max` bytes, between characters.
pub(crate) fn truncate_text(text: &mut String, max: usize) {
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_its_length() {
        let mut out = vec![9];
        assert!(encode_frame(&mut out, &Task::Scheduled("{}".into())));
        assert_eq!(out, [9, 4, 0, 0, 0, 1, 2, b'{', b'}']);
    }

    #[test]
    fn a_response_lies_in_its_frame() {
        let completed = |body: &'static [u8]| {
            let head = ResponseHead { status: 200, headers: vec![("a".into(), "b".into())] };
            let whole = BufferedResponse { head, body: Bytes::from_static(body) };
            FromWorker::Completed(JobResult {
                result: Ok(Outcome::Response(whole)),
                is_cached: true,
                should_retire: false,
                cpu_micros: 0,
            })
        };
        for body in [&b"hello"[..], b""] {
            let mut out = Vec::new();
            assert!(completed(body).encode(&mut out));
            let frame = Bytes::from(out).slice(4..);
            let Some(FromWorker::Completed(JobResult {
                result: Ok(Outcome::Response(read)),
                is_cached: true,
                ..
            })) = FromWorker::decode(&frame)
            else {
                panic!("something else was read");
            };
            assert_eq!((read.head.status, &read.body[..]), (200, body));
            assert!(body.is_empty() || frame.as_ptr_range().contains(&read.body.as_ptr()), "it was copied");
        }
        assert!(!completed(&[0; MAX_FRAME]).encode(&mut Vec::new()), "a frame has a limit, with the body");
    }

    #[test]
    fn nothing_follows_any_other_message() {
        let mut out = Vec::new();
        assert!(FromWorker::BodyEnd.encode(&mut out));
        let frame = Bytes::from(out.clone()).slice(4..);
        assert!(matches!(FromWorker::decode(&frame), Some(FromWorker::BodyEnd)));
        out.push(0);
        assert!(FromWorker::decode(&Bytes::from(out).slice(4..)).is_none());
        assert!(FromWorker::decode(&Bytes::from_static(&[200])).is_none());
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut text = "añb".to_owned();
        truncate_text(&mut text, 2);
        assert_eq!(text, "a");
    }
}
