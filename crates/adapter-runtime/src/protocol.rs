//! What the parent and a worker process say to each other: frames of a length (four bytes, little endian) and a
//! postcard message, over the worker's stdin and stdout. The body of an app's whole response follows its message in the frame, so
//! that it is never copied out of it.
//!
//! A fork server is told less: each message on the socket that is its stdin is one byte with the two pipes of a worker
//! to be made (`SCM_RIGHTS` of unix(7)), and the answer is the number of its process.
//!
//! JSON travels as text and is checked where it arrives; the parent takes nothing a worker says on trust.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use runs::engine::{Bindings, FailureCode, HostError, HttpRequest, HttpResponse, LogLevel};
use serde::{Deserialize, Serialize};

/// No frame is longer, in either direction.
pub(crate) const MAX_FRAME: usize = 32 << 20;
/// Bytes of one line of log.
pub(crate) const MAX_LOG_LINE: usize = 16 << 10;
/// Characters of a failure's message.
pub(crate) const MAX_FAILURE_MESSAGE: usize = 2000;
/// Bytes of a streamed body that the worker may send before it is told that some were taken.
pub(crate) const STREAM_WINDOW: u32 = 256 << 10;
/// Bytes of one piece of a streamed body.
pub(crate) const MAX_CHUNK: usize = 64 << 10;
/// How long the code of a streamed answer may go on after it was told that nobody wants more.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_secs(3);
/// Processor time after which an invocation is a long computation, which gives way to short ones.
pub(crate) const LONG_COMPUTATION: Duration = Duration::from_millis(20);

/// A version's id, bare.
pub(crate) type VersionKey = [u8; 16];

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// Run this; one at a time.
    Invoke(Box<Job>),
    /// The answer to a [`FromWorker::Call`].
    CallResult { call: u32, result: Result<HostCallOutput, HostError> },
    /// So many bytes of the streamed body were taken.
    WindowUpdate(u32),
    /// Nobody wants more of the streamed body.
    CancelStream,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) version: VersionKey,
    /// Absent when the worker has compiled this version already.
    pub(crate) files: Option<BTreeMap<String, String>>,
    /// A version to drop, so that the worker needs no policy of its own.
    pub(crate) evict: Option<VersionKey>,
    pub(crate) bindings: Bindings,
    pub(crate) task: Task,
    pub(crate) limits: JobLimits,
    /// True if the worker lets other processes go first from its first instruction.
    pub(crate) is_low_priority: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Only compile, link and look at the exports.
    Check,
    /// `scheduled` with its event as JSON.
    Scheduled(String),
    /// `fetch` with its request.
    Fetch(Request),
}

/// [`runs::engine::Limits`] in numbers.
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
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostCallOutput {
    Response(Response),
    Json(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// The first message: what holds the process in.
    Ready(Confinement),
    Log {
        level: LogLevel,
        message: String,
    },
    Call {
        id: u32,
        call: HostCall,
    },
    /// An answer begins whose body comes in pieces; once, and only where an answer is asked for.
    Head(ResponseHead),
    /// The next bytes of the body; never none.
    Chunk(Bytes),
    /// The body is complete; the code may still go on.
    BodyEnd,
    /// The last message of a job.
    Completed(JobResult),
}

impl FromWorker {
    /// The message of a frame; none where it is no message of a worker.
    pub(crate) fn decode(frame: &Bytes) -> Option<Self> {
        let (mut message, rest) = postcard::take_from_bytes(frame).ok()?;
        if let Self::Completed(JobResult { result: Ok(Outcome::Response(response)), .. }) = &mut message {
            response.body = frame.slice_ref(rest);
        } else if !rest.is_empty() {
            return None;
        }
        Some(message)
    }

    /// Appends the message's frame, as [`put_frame`] does.
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
    Fetch { connection: Option<String>, request: Request },
    Data { project: String, op: String, table: String, key: String, values: String },
    Approval { title: String, detail: Option<String> },
}

/// A whole response of an app.
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
    /// Whether the version is compiled and kept.
    pub(crate) is_cached: bool,
    /// Whether the process has used up its days and should be replaced.
    pub(crate) should_retire: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Handlers {
        scheduled: bool,
        fetch: bool,
    },
    Json(String),
    Response(BufferedResponse),
    /// All of it was sent before.
    Streamed,
}

/// [`runs::engine::Failure`] on the wire.
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

/// What holds a worker process in, as far as the machine permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// No privileges can be gained.
    pub no_new_privs: bool,
    /// Only the listed system calls are allowed.
    pub seccomp: bool,
    /// A user namespace of its own.
    pub user_namespace: bool,
    /// An empty network namespace.
    pub network_namespace: bool,
    /// No capability is left, in its own namespace neither.
    pub no_capabilities: bool,
    /// The resource limits.
    pub rlimits: bool,
    /// Dies with its parent.
    pub dies_with_parent: bool,
}

impl Confinement {
    /// The walls that do not stand, and what would let each stand.
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

impl From<HttpRequest> for Request {
    fn from(from: HttpRequest) -> Self {
        Self { method: from.method, url: from.url, headers: from.headers, body: from.body }
    }
}

impl From<Request> for HttpRequest {
    fn from(from: Request) -> Self {
        Self { method: from.method, url: from.url, headers: from.headers, body: from.body }
    }
}

impl From<HttpResponse> for Response {
    fn from(from: HttpResponse) -> Self {
        Self { status: from.status, headers: from.headers, body: from.body }
    }
}

impl From<BufferedResponse> for HttpResponse {
    fn from(BufferedResponse { head, body }: BufferedResponse) -> Self {
        Self { status: head.status, headers: head.headers, body }
    }
}

/// Appends one frame. A message too long for a frame is left out and told by `false`.
pub(crate) fn encode_frame(out: &mut Vec<u8>, message: &impl Serialize) -> bool {
    encode_frame_with_body(out, message, &[])
}

/// Appends one frame of a message and the body that follows it.
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

/// At most `max` bytes of `text`, cut between characters.
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
