//! A host that records calls and replies, and short ways to run code.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use adapter_runtime::{ConcurrencyLimits, QuickJsEngine, RuntimeConfig};
use async_trait::async_trait;
use bytes::Bytes;
use futures::{
    StreamExt as _,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
};
use kernel::{
    Timestamp,
    id::{Id, WorkspaceId},
};
use runs::engine::{
    Bindings, Bundle, DataCall, Engine as _, Failure, FailureCode, FetchBody, FetchRequest, FetchResponse,
    HandlerCall, HandlerOutput, Host, HostError, Invocation, InvocationLimits, KeyUse, LogLevel,
    ScheduledEvent, SecretBinding,
};
use secrecy::SecretString;
use serde_json::{Value, json, value::RawValue};
use tokio::sync::Notify;
use uuid::Uuid;

/// The secret that the host has for `env.secrets.KEY`: 32 bytes, which every kind of secret key may have.
pub(crate) const SECRET_KEY: &str = "s3cret-of-the-app-0123456789abcd";

pub(crate) fn id<K>(number: u128) -> Id<K> {
    Id::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn config() -> RuntimeConfig {
    RuntimeConfig {
        program: Some(PathBuf::from(env!("CARGO_BIN_EXE_adapter-runtime-worker"))),
        arguments: Vec::new(),
        ..RuntimeConfig::default()
    }
}

pub(crate) fn engine() -> QuickJsEngine {
    QuickJsEngine::start(config()).unwrap()
}

/// An engine with one slot of each kind.
pub(crate) fn engine_with_one_slot() -> QuickJsEngine {
    let places = ConcurrencyLimits { runs: 1, requests: 1, checks: 1 };
    QuickJsEngine::start(RuntimeConfig { concurrency: places, ..config() }).unwrap()
}

pub(crate) fn bundle_of(files: &[(&str, &str)]) -> Arc<Bundle> {
    let files: BTreeMap<_, _> =
        files.iter().map(|(name, source)| ((*name).to_owned(), (*source).to_owned())).collect();
    // The same files are the same version.
    let mut number = 14_695_981_039_346_656_037_u128;
    for byte in files.iter().flat_map(|(name, source)| name.bytes().chain(source.bytes())) {
        number = (number ^ u128::from(byte)).wrapping_mul(1_099_511_628_211);
    }
    Arc::new(Bundle::new(id(number), files))
}

pub(crate) fn event(data: &Value) -> ScheduledEvent {
    ScheduledEvent {
        trigger: "manual".into(),
        data: RawValue::from_string(data.to_string()).unwrap(),
        scheduled_time: Timestamp::from_timestamp_millis(1_700_000_000_123).unwrap(),
        cron: Some("* * * * *".into()),
        run_id: id(7),
        attempt: 2,
    }
}

/// Returns a run of a workspace that is alone in its share.
pub(crate) fn scheduled(workspace: u128, bundle: Arc<Bundle>, data: &Value) -> Invocation {
    let workspace: WorkspaceId = id(workspace);
    Invocation {
        workspace,
        share: workspace.into(),
        app: id(1),
        bundle,
        bindings: Bindings {
            data: vec!["shop".into()],
            connections: vec!["mail".into()],
            secrets: vec![
                SecretBinding { name: "KEY".into(), clear: None },
                SecretBinding { name: "PLAIN".into(), clear: Some("in-clear".into()) },
            ],
        },
        handler: HandlerCall::Scheduled(event(data)),
        // What is measured by the clock depends on what else the machine does: tests of that limit set it.
        limits: InvocationLimits { wall_time: Duration::from_secs(120), ..InvocationLimits::default() },
    }
}

/// Makes an invocation one of another workspace, which is alone in its share.
pub(crate) fn move_to_workspace(invocation: &mut Invocation, number: u128) {
    let workspace: WorkspaceId = id(number);
    (invocation.workspace, invocation.share) = (workspace, workspace.into());
}

/// A host that records the log lines and calls of a test's code.
#[derive(Default)]
pub(crate) struct TestHost {
    pub(crate) lines: Mutex<Vec<(LogLevel, String)>>,
    pub(crate) concurrent_calls: Mutex<(usize, usize)>,
    /// Releases one request to `https://gate.example/`.
    pub(crate) release_fetch: Notify,
    /// URLs of the requests that began, and of those whose futures were dropped before they ended.
    pub(crate) started_fetches: Mutex<Vec<String>>,
    pub(crate) dropped_fetches: Mutex<Vec<String>>,
    /// The bodies of responses of `pieces.example`, by their URLs.
    pub(crate) pieces: Mutex<BTreeMap<String, UnboundedReceiver<Result<Bytes, HostError>>>>,
    /// URLs whose streamed response was dropped.
    pub(crate) dropped_bodies: Arc<Mutex<Vec<String>>>,
    /// The secret that the code may make a key of, in place of [`SECRET_KEY`].
    pub(crate) secret: Mutex<Option<String>>,
    pub(crate) cpu_times: Mutex<Vec<Duration>>,
}

/// Records a request whose future is dropped while it runs.
struct RunningFetch<'a> {
    host: &'a TestHost,
    url: Option<String>,
}

impl Drop for RunningFetch<'_> {
    fn drop(&mut self) {
        self.host.dropped_fetches.lock().unwrap().extend(self.url.take());
    }
}

/// Records that a streamed response is dropped.
struct DroppedBody(Arc<Mutex<Vec<String>>>, String);

impl Drop for DroppedBody {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(std::mem::take(&mut self.1));
    }
}

impl TestHost {
    /// Lets `https://pieces.example/{path}` respond with what is sent.
    pub(crate) fn respond_in_pieces(&self, path: &str) -> UnboundedSender<Result<Bytes, HostError>> {
        let (sender, pieces) = unbounded();
        self.pieces.lock().unwrap().insert(format!("https://pieces.example/{path}"), pieces);
        sender
    }

    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the processor time of the host's only invocation.
    pub(crate) fn cpu_time(&self) -> Duration {
        let times = self.cpu_times.lock().unwrap();
        assert_eq!(times.len(), 1, "the processor time is recorded once: {times:?}");
        times[0]
    }

    pub(crate) fn log_messages(&self) -> Vec<String> {
        self.lines.lock().unwrap().iter().map(|(_, line)| line.clone()).collect()
    }
}

#[async_trait]
impl Host for TestHost {
    fn log(&self, level: LogLevel, message: String) {
        self.lines.lock().unwrap().push((level, message));
    }

    fn record_cpu_time(&self, used: Duration) {
        self.cpu_times.lock().unwrap().push(used);
    }

    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, HostError> {
        if request.url.contains("denied") {
            return Err(HostError { code: "egress_denied".into(), message: "not allowed".into() });
        }
        {
            let mut at_once = self.concurrent_calls.lock().unwrap();
            at_once.0 += 1;
            at_once.1 = at_once.1.max(at_once.0);
        }
        self.started_fetches.lock().unwrap().push(request.url.clone());
        let mut running = RunningFetch { host: self, url: Some(request.url.clone()) };
        if request.url == "https://gate.example/" {
            self.release_fetch.notified().await;
        }
        if let Some(millis) = request.url.split("wait=").nth(1) {
            tokio::time::sleep(Duration::from_millis(millis.parse().unwrap())).await;
        }
        running.url = None;
        self.concurrent_calls.lock().unwrap().0 -= 1;
        if request.url.starts_with("https://pieces.example/") {
            let pieces = self.pieces.lock().unwrap().remove(&request.url).unwrap();
            let dropped = DroppedBody(self.dropped_bodies.clone(), request.url.clone());
            let pieces = pieces.inspect(move |_| {
                let _ = &dropped;
            });
            let headers = vec![("content-type".into(), "text/plain".into())];
            return Ok(FetchResponse {
                status: 203,
                headers,
                body: FetchBody::Stream(pieces.boxed()),
                redirected_to: None,
            });
        }
        let is_streamed = matches!(request.body, FetchBody::Stream(_));
        let sent = request.body.collect(1 << 20).await?;
        let body = json!({
            "method": request.method,
            "url": request.url,
            "headers": request.headers,
            "body": String::from_utf8_lossy(&sent),
            "redirect": request.redirect,
        });
        let mut headers =
            vec![("content-type".into(), "application/json".into()), ("x-a".into(), "b".into())];
        if is_streamed {
            headers.push(("x-streamed".into(), "yes".into()));
        }
        let redirected_to =
            request.url.split_once("moved=").map(|(_, to)| format!("https://api.example/{to}"));
        let body = FetchBody::Complete(body.to_string().into());
        Ok(FetchResponse { status: 201, headers, body, redirected_to })
    }

    async fn connection_fetch(&self, name: &str, request: FetchRequest) -> Result<FetchResponse, HostError> {
        let body = format!("{name} {} {}", request.method, request.url);
        let body = FetchBody::Complete(body.into());
        Ok(FetchResponse { status: 200, headers: Vec::new(), body, redirected_to: None })
    }

    async fn secret_key(&self, name: &str, uses: &[KeyUse]) -> Result<SecretString, HostError> {
        if name != "KEY" || uses.is_empty() || uses.contains(&KeyUse::Verify) {
            return Err(HostError { code: "secret_unavailable".into(), message: "not allowed".into() });
        }
        Ok(self.secret.lock().unwrap().clone().unwrap_or_else(|| SECRET_KEY.to_owned()).into())
    }

    async fn data(&self, name: &str, call: DataCall) -> Result<Box<RawValue>, HostError> {
        if matches!(&call, DataCall::Select { table, .. } if table == "none") {
            return Err(HostError { code: "table_not_found".into(), message: "no such table".into() });
        }
        Ok(RawValue::from_string(json!({"project": name, "call": call}).to_string()).unwrap())
    }
}

/// Runs `export default { scheduled }` whose body is `body`; the imports stand before it.
pub(crate) async fn run_with(
    engine: &QuickJsEngine,
    source: &str,
    change: impl FnOnce(&mut Invocation),
) -> (Result<Value, Failure>, Arc<TestHost>) {
    let host = TestHost::new();
    let mut invocation = scheduled(1, bundle_of(&[("main.js", source)]), &json!(null));
    change(&mut invocation);
    let result = engine.invoke(invocation, host.clone()).await.map(|output| match output {
        HandlerOutput::Scheduled(json) => serde_json::from_str(json.get()).unwrap(),
        HandlerOutput::Response(_) | HandlerOutput::Streamed(_) => panic!("a response from scheduled"),
    });
    (result, host)
}

pub(crate) fn body(body: &str) -> String {
    format!("export default {{ async scheduled(event, env, ctx) {{\n{body}\n}} }};")
}

pub(crate) async fn run(body_of_handler: &str) -> (Result<Value, Failure>, Arc<TestHost>) {
    run_with(&engine(), &body(body_of_handler), |_| ()).await
}

pub(crate) async fn run_expecting_failure(
    body_of_handler: &str,
    change: impl FnOnce(&mut Invocation),
) -> Failure {
    run_with(&engine(), &body(body_of_handler), change).await.0.unwrap_err()
}

pub(crate) fn assert_failed_with(code: FailureCode, failure: &Failure) {
    assert_eq!(failure.code, code, "{failure}");
}
