//! Workers that break the protocol: the engine rejects whatever they send beyond what they may.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
};

use bytes::Bytes;
use futures::StreamExt as _;
use kernel::Id;
use process_snapshot::{ChildProcess, ForkedProcess};
use runs::engine::{
    Bindings, Bundle, Engine as _, HandlerCall, HandlerOutput, HttpRequest, Invocation, ScheduledEvent,
    StreamedResponse,
};
use rustix::process::Pid;
use serde_json::value::RawValue;
use tokio::net::unix::pipe;
use uuid::Uuid;

use super::*;
use crate::{
    QuickJsEngine, RuntimeConfig,
    bytecode::{Bytecode, BytecodeKey},
    program_build::ProgramBuild,
    protocol::{BufferedResponse, FromWorker, JobResult, MAX_CHUNK, ResponseHead},
    spawner::WorkerFactory,
};

const CONFINEMENT: Confinement = Confinement {
    no_new_privs: false,
    seccomp: false,
    user_namespace: false,
    no_capabilities: true,
    network_namespace: false,
    rlimits: false,
    dies_with_parent: false,
};

const READY: FromWorker = FromWorker::Ready { confinement: CONFINEMENT, build: ProgramBuild::ZERO };

fn head(status: u16) -> FromWorker {
    FromWorker::Head(ResponseHead { status, headers: Vec::new() })
}

fn chunk(length: usize) -> FromWorker {
    FromWorker::Chunk(vec![b'x'; length].into())
}

fn completed(verdict: Result<Outcome, Fault>) -> FromWorker {
    FromWorker::Completed(JobResult {
        result: verdict,
        is_cached: false,
        should_retire: false,
        cpu_micros: 0,
    })
}

fn buffered_response() -> Outcome {
    Outcome::Response(BufferedResponse {
        head: ResponseHead { status: 200, headers: Vec::new() },
        body: Bytes::new(),
    })
}

/// Workers that write a file to stdout, and nothing after it.
struct ScriptedWorkers(PathBuf);

impl WorkerFactory for ScriptedWorkers {
    fn spawn_worker(&mut self) -> io::Result<ForkedProcess> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cat \"$0\"; exec sleep 60"]).arg(&self.0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Ok(ForkedProcess {
            child: ChildProcess::adopt(Pid::from_child(&child))?,
            stdin: pipe::Sender::from_owned_fd(stdin.into())?,
            stdout: pipe::Receiver::from_owned_fd(stdout.into())?,
        })
    }

    fn recycle(&mut self) {}
}

/// Makes an engine each of whose workers sends these messages. They are in the file.
fn scripted_engine(says: &[FromWorker]) -> (QuickJsEngine, tempfile::NamedTempFile) {
    let mut frames = Vec::new();
    READY.encode(&mut frames);
    for message in says {
        assert!(message.encode(&mut frames));
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&frames).unwrap();
    let spawner = Spawner::with_factory(ScriptedWorkers(file.path().into())).unwrap();
    let config = RuntimeConfig { prewarmed: 0, ..RuntimeConfig::default() };
    (QuickJsEngine::with_spawner(spawner, config).unwrap(), file)
}

/// Invokes an engine whose worker sends these messages, whatever it is asked. The code is compiled already.
async fn invoke_scripted(says: &[FromWorker], entry: HandlerCall) -> Result<HandlerOutput, Failure> {
    invoke_scripted_within(100_000, says, entry).await
}

async fn invoke_scripted_within(
    streamed: u64,
    says: &[FromWorker],
    entry: HandlerCall,
) -> Result<HandlerOutput, Failure> {
    let (engine, _script) = scripted_engine(says);
    invoke(&engine, streamed, entry, true).await
}

/// Invokes an engine whose code is compiled, or is not.
async fn invoke(
    engine: &QuickJsEngine,
    streamed: u64,
    entry: HandlerCall,
    is_compiled: bool,
) -> Result<HandlerOutput, Failure> {
    let id = Uuid::from_u128(1);
    let bundle = Bundle::new(Id::from_uuid(id), BTreeMap::new());
    let limits = InvocationLimits {
        wall_time: Duration::from_secs(20),
        streamed_bytes: streamed,
        ..InvocationLimits::default()
    };
    if is_compiled {
        let key = BytecodeKey { workspace: Id::from_uuid(id), digest: bundle.digest() };
        let bytecode = Bytecode { build: ProgramBuild::ZERO, modules: Bytes::new() };
        engine.bytecode.get_or_compile(key, ProgramBuild::ZERO, async || Ok(bytecode)).await?;
    }
    let invocation = Invocation {
        workspace: Id::from_uuid(id),
        share: ShareId::default(),
        app: Id::from_uuid(id),
        bundle: Arc::new(bundle),
        bindings: Bindings::default(),
        handler: entry,
        limits,
    };
    engine.invoke(invocation, Arc::new(NoHost)).await
}

fn request() -> HandlerCall {
    let (method, url) = ("GET".to_owned(), "https://a.example/".to_owned());
    HandlerCall::Fetch(HttpRequest { method, url, headers: Vec::new(), body: Bytes::new() })
}

#[tokio::test]
async fn an_answer_that_begins_as_none_may_is_refused() {
    for says in [
        vec![chunk(1)],
        vec![FromWorker::BodyEnd],
        vec![head(100)],
        vec![head(600)],
        vec![completed(Ok(Outcome::Streamed))],
        vec![READY],
        // Bytecode is taken from a process that compiles, and from no other.
        vec![FromWorker::TypesStripped],
        vec![FromWorker::Compiled(Ok(Bytes::new()))],
        // More cancellations than calls.
        vec![FromWorker::CancelCall(1)],
    ] {
        let failure = invoke_scripted(&says, request()).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::WorkerLost, "{says:?}");
    }
    let event = ScheduledEvent {
        trigger: "manual".to_owned(),
        data: RawValue::NULL.to_owned(),
        scheduled_time: Default::default(),
        cron: None,
        run_id: Id::from_uuid(Uuid::from_u128(1)),
        attempt: 1,
    };
    let failure = invoke_scripted(&[head(200)], HandlerCall::Scheduled(event)).await.unwrap_err();
    assert_eq!(failure.code, FailureCode::WorkerLost);
}

#[tokio::test]
async fn a_compilation_that_ends_as_none_may_is_refused() {
    for says in [
        vec![head(200)],
        vec![completed(Ok(buffered_response()))],
        vec![READY],
        // There is no TypeScript.
        vec![FromWorker::TypesStripped, FromWorker::Compiled(Ok(Bytes::new()))],
    ] {
        let (engine, _script) = scripted_engine(&says);
        let failure = invoke(&engine, 0, request(), false).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::WorkerLost, "{says:?}");
    }
    let fault = Fault::new(FailureCode::InvalidBundle, "no");
    let (engine, _script) = scripted_engine(&[FromWorker::Compiled(Err(fault))]);
    let failure = invoke(&engine, 0, request(), false).await.unwrap_err();
    assert_eq!((failure.code, &failure.message[..]), (FailureCode::InvalidBundle, "no"));
}

#[tokio::test]
async fn an_answer_that_goes_on_as_none_may_is_cut_off() {
    for says in [
        vec![head(200), head(200)],
        vec![head(200), chunk(0)],
        vec![head(200), chunk(MAX_CHUNK + 1)],
        // More than the 100,000 bytes that may be streamed in all.
        vec![head(200), chunk(65_536), chunk(34_465)],
        vec![head(200), completed(Ok(Outcome::Streamed))],
        vec![head(200), completed(Ok(buffered_response()))],
        vec![head(200), FromWorker::BodyEnd, chunk(1)],
        vec![head(200), FromWorker::BodyEnd, FromWorker::BodyEnd],
        vec![head(200), FromWorker::BodyEnd, completed(Ok(buffered_response()))],
        vec![head(200), FromWorker::BodyEnd, completed(Ok(Outcome::Json("1".to_owned())))],
    ] {
        let HandlerOutput::Streamed(StreamedResponse { body, completion, .. }) =
            invoke_scripted(&says, request()).await.unwrap()
        else {
            panic!("not streamed: {says:?}");
        };
        assert_eq!(completion.await.unwrap_err().code, FailureCode::WorkerLost, "{says:?}");
        let complete = matches!(says[1], FromWorker::BodyEnd);
        let last = body.collect::<Vec<_>>().await.pop();
        // A complete body stays complete, whatever comes after it.
        assert_eq!(last.is_none_or(|last| last.is_ok()), complete, "{says:?}");
    }
}

#[tokio::test]
async fn a_fault_after_the_head_is_the_bodys_end() {
    let fault = Fault::new(FailureCode::AppError, "no");
    let says = [head(200), chunk(3), completed(Err(fault))];
    let HandlerOutput::Streamed(StreamedResponse { body, completion, status, .. }) =
        invoke_scripted(&says, request()).await.unwrap()
    else {
        panic!("not streamed");
    };
    assert_eq!(status, 200);
    let pieces: Vec<_> = body.collect().await;
    assert_eq!(pieces[0].as_deref(), Ok(b"xxx".as_slice()));
    assert_eq!(pieces[1].as_ref().unwrap_err().message, "no");
    assert_eq!(completion.await.unwrap_err().code, FailureCode::AppError);
}

/// Sends more than the window while nobody reads.
#[tokio::test]
async fn who_sends_more_than_there_is_room_for_is_stopped() {
    let says: Vec<_> = [head(200)].into_iter().chain((0..5).map(|_| chunk(MAX_CHUNK))).collect();
    for (limit, says, stopped) in [(1 << 30, &says[..], true), (1 << 30, &says[..5], false)] {
        let HandlerOutput::Streamed(StreamedResponse { completion, body, .. }) =
            invoke_scripted_within(limit, says, request()).await.unwrap()
        else {
            panic!("not streamed");
        };
        let waited = tokio::time::timeout(Duration::from_secs(4), completion).await;
        assert_eq!(waited.is_ok(), stopped);
        drop(body);
    }
}
