//! The host of one invocation: what app code can reach.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use apps::manifest::{SecretPermission, SecretUse};
use async_trait::async_trait;
use bytes::Bytes;
use connections::{
    EgressPermit, EgressPolicy, OutboundRequest, OutboundResponse, Refusal, RefusalCode,
    app_secrets::headers::{SecretHeader, take_secret_headers},
    authorize_connection, authorize_egress,
    connection::gate_of,
    egress::log_entry::{EgressLogEntry, EgressOutcome},
    health::CallOutcome,
    scrub::Scrubber,
};
use kernel::{
    StoreError, Timestamp,
    id::{AppId, WorkspaceId},
};
use observability::{Measurement, metrics::Workload};
use runs::{
    approvals::{ApprovalAnswer, MAX_QUESTIONS, check_question},
    engine::{
        ApprovalQuestion, DataCall, Failure, Host, HostError, HttpRequest, HttpResponse, KeyUse, LogLevel,
    },
    runs::StepStatus,
};
use secrecy::SecretString;
use serde_json::value::RawValue;
use tokio::{
    sync::{Notify, OnceCell},
    time::Instant,
};

use super::{
    Inner, egress, rows,
    secrets::permission_for,
    trace::{RunTrace, finished_step},
    uninterrupted_credentials::UninterruptedCredentials,
    version_cache::{Binding, LoadedVersion},
};
use crate::app_secrets::missing;

/// Serves the host calls of one invocation and records them.
pub(super) struct AppHost {
    inner: Arc<Inner>,
    workspace: WorkspaceId,
    app: AppId,
    content: Arc<LoadedVersion>,
    bindings: Vec<Binding>,
    /// Finds the secrets that the code has in clear; none if it has none.
    clear_secrets: Option<Scrubber>,
    /// Gates as they were at the first request.
    policy: OnceCell<Arc<EgressPolicy>>,
    trace: Mutex<RunTrace>,
    approvals: PendingApprovals,
    workload: Workload,
}

/// Questions of the code to people, and their answers.
#[derive(Default)]
struct PendingApprovals {
    /// Answers not yet given to the code, the next first; `None` if the code cannot ask anybody.
    answers: Mutex<Option<VecDeque<ApprovalAnswer>>>,
    /// Number and text of the first question without an answer.
    unanswered: Mutex<Option<(u32, ApprovalQuestion)>>,
    next_number: AtomicU32,
    question_asked: Notify,
}

impl AppHost {
    pub(super) fn new(
        inner: Arc<Inner>,
        (workspace, app): (WorkspaceId, AppId),
        content: Arc<LoadedVersion>,
        (bindings, clear_secrets): (Vec<Binding>, Option<Scrubber>),
        (workload, log_bytes): (Workload, usize),
    ) -> Self {
        let record = Mutex::new(RunTrace::new(&inner.settings.limits, log_bytes));
        Self {
            inner,
            workspace,
            app,
            content,
            bindings,
            clear_secrets,
            policy: OnceCell::new(),
            trace: record,
            approvals: PendingApprovals::default(),
            workload,
        }
    }

    /// Lets the code ask people, and supplies the answers given so far.
    pub(super) fn set_answers(&self, answers: Vec<ApprovalAnswer>) {
        *lock(&self.approvals.answers) = Some(answers.into());
    }

    /// Waits until the code asks a question that has no answer yet; returns its number and the question.
    pub(super) async fn wait_for_question(&self) -> (u32, ApprovalQuestion) {
        loop {
            let question_asked = self.approvals.question_asked.notified();
            if let Some(open) = lock(&self.approvals.unanswered).take() {
                return open;
            }
            question_asked.await;
        }
    }

    /// Takes the trace and leaves an empty one.
    pub(super) fn take_trace(&self) -> RunTrace {
        let mut record = self.trace();
        let fresh = RunTrace::new(&self.inner.settings.limits, record.max_bytes());
        let mut taken = std::mem::replace(&mut *record, fresh);
        drop(record);
        taken.finish_log(self.now());
        taken
    }

    /// Redacts secrets that the code has in clear in the message of its failure.
    pub(super) fn redact(&self, mut failure: Failure) -> Failure {
        if let Some(scrubber) = &self.clear_secrets {
            failure.message = scrubber.scrub_text(&failure.message).into_owned();
        }
        failure
    }

    fn trace(&self) -> MutexGuard<'_, RunTrace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    async fn policy(&self) -> Result<&Arc<EgressPolicy>, StoreError> {
        let load = async || {
            let gates = self.inner.store.gates(self.workspace).await?;
            Ok(egress::policy(&self.content.manifest, gates, &self.inner.settings))
        };
        self.policy.get_or_try_init(load).await
    }

    /// Takes the headers with secrets of the app out of a request.
    fn take_secret_headers(&self, request: &mut HttpRequest) -> Result<Vec<SecretHeader>, Refusal> {
        let declared = self.content.manifest.permissions.secrets.iter();
        take_secret_headers(&mut request.headers, declared.map(|secret| secret.name.as_str()))
    }

    /// Sends a permitted request, with the secrets of the app that its headers name.
    async fn send_permitted(
        &self,
        mut request: HttpRequest,
        permit: EgressPermit,
    ) -> Result<Result<OutboundResponse, Refusal>, StoreError> {
        let headers = match self.take_secret_headers(&mut request) {
            Ok(headers) => headers,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let outgoing = OutboundRequest { headers: request.headers, body: request.body };
        if headers.is_empty() {
            return Ok(self.inner.outbound.send(outgoing, permit).await);
        }
        for SecretHeader { secret, .. } in &headers {
            let declared =
                self.content.manifest.permissions.secrets.iter().find(|known| known.name == *secret);
            if declared.is_none_or(|declared| !declared.allows(SecretUse::Header)) {
                let message = format!("the app's manifest does not allow the secret {secret} in a header");
                return Ok(Err(Refusal::new(RefusalCode::HeaderDenied, message)));
            }
        }
        let scope = (self.workspace, self.app);
        let secrets = match self.inner.secrets.for_headers(scope, &headers, permit.host()).await? {
            Ok(secrets) => secrets,
            Err(refusal) => return Ok(Err(refusal)),
        };
        Ok(self.inner.outbound.send_with_secrets(outgoing, permit, &headers, &secrets).await)
    }

    /// Sends a request that the policy permits, and counts it at the gate of its host.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, FetchError> {
        let policy = self.policy().await.map_err(FetchError::Unavailable)?;
        let gate = egress::gate_of(&request.url, policy);
        let result = match authorize_egress(&request.url, &request.method, policy) {
            Ok(permit) => self.send_permitted(request, permit).await.map_err(FetchError::Unavailable)?,
            Err(refusal) => Err(refusal),
        };
        if let Some(gate) = gate {
            self.inner.calls.count(self.workspace, gate, self.now(), outcome(&result));
        }
        Ok(response(result?))
    }

    /// Sends a request through the connection that the manifest names so. The connection is read for every request, so
    /// that it ends with a disconnect.
    async fn send_through(&self, name: &str, mut request: HttpRequest) -> Result<HttpResponse, FetchError> {
        let inner = &self.inner;
        let not_connected = |what: &str| {
            FetchError::Gate(Refusal::new(RefusalCode::NotConnected, format!("the connection {name} {what}")))
        };
        let declared = self.content.manifest.permissions.connectors.iter().find(|known| known.name == name);
        let Some(declared) = declared else {
            let message = "the app's manifest does not name the connection";
            return Err(Refusal::new(RefusalCode::NotConnected, message).into());
        };
        let found = inner.connections.find_connection(self.workspace, declared.connection_id).await;
        let connection = found.map_err(FetchError::Unavailable)?;
        let connection = connection.ok_or_else(|| not_connected("does not exist"))?;
        let policy = egress::limited_policy(connection, declared, &inner.settings);
        let result = async {
            let permit = authorize_connection(&request.url, &request.method, &policy)?;
            if let Some(taken) = self.take_secret_headers(&mut request)?.first() {
                let message =
                    format!("the secret {} cannot be sent through a connection; use fetch", taken.secret);
                return Err(Refusal::new(RefusalCode::HeaderDenied, message));
            }
            let outgoing = OutboundRequest { headers: request.headers, body: request.body };
            let credentials = UninterruptedCredentials(Arc::clone(&inner.credentials));
            inner.outbound.send_through_connection(outgoing, permit, &credentials).await
        };
        let result = result.await;
        let (connection, outcome) = (&policy.connection, outcome(&result));
        inner.calls.count(self.workspace, gate_of(connection.id), self.now(), outcome);
        inner.credentials.record_outcome(connection, outcome).await;
        Ok(response(result?))
    }

    /// Opens a secret that becomes a key, if the manifest allows all of its uses.
    async fn open_key(&self, name: &str, uses: &[KeyUse]) -> Result<SecretString, FetchError> {
        let declared = self.content.manifest.permissions.secrets.iter().find(|known| known.name == name);
        let allows = |declared: &SecretPermission| {
            !uses.is_empty() && uses.iter().all(|wanted| declared.allows(permission_for(*wanted)))
        };
        if !declared.is_some_and(allows) {
            let message = format!("the app's manifest does not allow the secret {name} to be such a key");
            return Err(Refusal::new(RefusalCode::SecretUnavailable, message).into());
        }
        let secrets = &self.inner.secrets;
        let found = secrets.find((self.workspace, self.app), name).await.map_err(FetchError::Unavailable)?;
        Ok(secrets.open(&found.ok_or_else(|| missing(name))?)?)
    }

    /// Records the result of a request as a log line and a step.
    fn record_request(&self, label: String, begun: CallTimer, result: &Result<HttpResponse, FetchError>) {
        let (at, millis) = begun.elapsed();
        let (level, status, verdict, detail) = match result {
            Ok(response) => {
                let verdict = EgressOutcome::Allowed(response.status);
                (LogLevel::Info, StepStatus::Ok, verdict, response.status.to_string())
            }
            Err(refused) => {
                let status =
                    if refused.is_policy_refusal() { StepStatus::Blocked } else { StepStatus::Failed };
                let verdict = EgressOutcome::Refused(refused.code().to_owned());
                (LogLevel::Warn, status, verdict, refused.code().to_owned())
            }
        };
        let mut record = self.trace();
        if let Err(refused) = result
            && refused.is_policy_refusal()
        {
            record.add_refusal(refused.code());
        }
        let note = EgressLogEntry { label: label.clone(), outcome: verdict, duration_ms: Some(millis) };
        record.push_line(self.now(), level, true, note.to_string());
        record.push_step(finished_step(label, status, (at, millis), detail));
    }

    fn start_timer(&self) -> CallTimer {
        CallTimer(self.now(), Instant::now())
    }
}

/// Start of a call, as wall time and on the monotonic clock.
#[derive(Clone, Copy)]
pub(super) struct CallTimer(Timestamp, Instant);

impl CallTimer {
    pub(super) fn start(now: Timestamp) -> Self {
        Self(now, Instant::now())
    }

    /// Returns the start, and the milliseconds since then.
    pub(super) fn elapsed(self) -> (Timestamp, u64) {
        (self.0, u64::try_from(self.1.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// A request without a response yet. Dropping it records that the request was aborted: by the code, or because the code
/// ended first. What was sent by then is not known, so it is never left out of the record.
struct UnansweredRequest<'a> {
    host: &'a AppHost,
    /// `None` once it is recorded.
    label: Option<String>,
    begun: CallTimer,
}

impl UnansweredRequest<'_> {
    fn record(mut self, result: &Result<HttpResponse, FetchError>) {
        if let Some(label) = self.label.take() {
            self.host.record_request(label, self.begun, result);
        }
    }
}

impl Drop for UnansweredRequest<'_> {
    fn drop(&mut self) {
        if let Some(label) = self.label.take() {
            self.host.record_request(label, self.begun, &Err(FetchError::Aborted));
        }
    }
}

/// The reason for which a request got no response.
enum FetchError {
    /// The code did not wait for the response.
    Aborted,
    /// The gate refused it, or the other side failed.
    Gate(Refusal),
    /// The gates or the connection could not be read, so no request is sent.
    Unavailable(StoreError),
}

impl From<Refusal> for FetchError {
    fn from(refusal: Refusal) -> Self {
        Self::Gate(refusal)
    }
}

impl FetchError {
    fn code(&self) -> &'static str {
        match self {
            Self::Gate(refusal) => refusal.code(),
            Self::Unavailable(_) => "unavailable",
            Self::Aborted => "aborted",
        }
    }

    fn is_policy_refusal(&self) -> bool {
        matches!(self, Self::Gate(refusal) if refusal.code.is_policy_refusal())
    }
}

impl From<FetchError> for HostError {
    fn from(refused: FetchError) -> Self {
        let code = refused.code().to_owned();
        let message = match refused {
            FetchError::Gate(refusal) => refusal.message,
            FetchError::Aborted => "the request was aborted".to_owned(),
            FetchError::Unavailable(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot read gates or connections");
                "the gates are temporarily unavailable".to_owned()
            }
        };
        Self { code, message }
    }
}

#[async_trait]
impl Host for AppHost {
    fn log(&self, level: LogLevel, message: String) {
        let now = self.now();
        let message = match &self.clear_secrets {
            Some(scrubber) => scrubber.scrub_text(&message).into_owned(),
            None => message,
        };
        self.trace().push_line(now, level, false, message);
    }

    fn record_cpu_time(&self, used: Duration) {
        let measurement = Measurement::CpuTime { workload: self.workload, used };
        self.inner.record_measurement((self.workspace, self.app), measurement);
    }

    async fn fetch(&self, request: HttpRequest) -> Result<HttpResponse, HostError> {
        let begun = self.start_timer();
        let label = egress::label(&request.method, &request.url);
        let unanswered = UnansweredRequest { host: self, label: Some(label), begun };
        let result = self.send(request).await;
        unanswered.record(&result);
        result.map_err(HostError::from)
    }

    async fn connection_fetch(&self, name: &str, request: HttpRequest) -> Result<HttpResponse, HostError> {
        let begun = self.start_timer();
        let declared = self.content.manifest.permissions.connectors.iter().any(|known| known.name == name);
        let label = egress::connection_label(&request.method, if declared { name } else { "?" });
        let unanswered = UnansweredRequest { host: self, label: Some(label), begun };
        let result = self.send_through(name, request).await;
        unanswered.record(&result);
        result.map_err(HostError::from)
    }

    async fn secret_key(&self, name: &str, uses: &[KeyUse]) -> Result<SecretString, HostError> {
        let begun = self.start_timer();
        let result = self.open_key(name, uses).await;
        let (status, detail) = match &result {
            Ok(_) => (StepStatus::Ok, None),
            Err(refused) => (StepStatus::Failed, Some(refused.code().to_owned())),
        };
        let is_declared = self.content.manifest.permissions.secrets.iter().any(|known| known.name == name);
        let label = format!("Secret {} as a key", if is_declared { name } else { "?" });
        let (at, millis) = begun.elapsed();
        let mut trace = self.trace();
        if let Err(refused) = &result {
            let outcome = EgressOutcome::Refused(refused.code().to_owned());
            let note = EgressLogEntry { label: label.clone(), outcome, duration_ms: Some(millis) };
            trace.push_line(self.now(), LogLevel::Warn, true, note.to_string());
        }
        trace.push_step(finished_step(label, status, (at, millis), detail));
        drop(trace);
        result.map_err(HostError::from)
    }

    async fn approval(&self, question: ApprovalQuestion) -> Result<Box<RawValue>, HostError> {
        let refuse = |message: String| HostError { code: "approval_unavailable".to_owned(), message };
        check_question(&question).map_err(refuse)?;
        let answer = match &mut *lock(&self.approvals.answers) {
            None => return Err(refuse("only a run can ask a person".to_owned())),
            Some(answers) => answers.pop_front(),
        };
        let number = self.approvals.next_number.fetch_add(1, Ordering::Relaxed);
        if number as usize >= MAX_QUESTIONS {
            return Err(refuse(format!("a run may ask at most {MAX_QUESTIONS} questions")));
        }
        if let Some(answer) = answer {
            let json = serde_json::value::to_raw_value(&answer).map_err(|error| refuse(error.to_string()))?;
            self.trace().push_step(finished_step(
                "Ask a person".to_owned(),
                StepStatus::Ok,
                self.start_timer().elapsed(),
                question.title,
            ));
            return Ok(json);
        }
        // One question at a time: questions asked beside it are asked again when the run is resumed.
        lock(&self.approvals.unanswered).get_or_insert((number, question));
        self.approvals.question_asked.notify_one();
        std::future::pending().await
    }

    async fn data(&self, name: &str, call: DataCall) -> Result<Box<RawValue>, HostError> {
        let begun = self.start_timer();
        let label = rows::label(&call);
        let result = match self.bindings.iter().find(|binding| binding.name == name) {
            Some(binding) => rows::execute(&self.inner.rows, binding, call).await,
            None => Err(rows::binding_not_found()),
        };
        let (status, detail) = match &result {
            Ok(done) => (StepStatus::Ok, done.detail()),
            Err(error) => (StepStatus::Failed, Some(error.code.clone())),
        };
        self.trace().push_step(finished_step(label, status, begun.elapsed(), detail));
        json(result?.body)
    }
}

/// Returns what a request says about its gate.
fn outcome(result: &Result<OutboundResponse, Refusal>) -> CallOutcome {
    match result {
        Ok(response) => CallOutcome::of_status(response.status),
        Err(refusal) => CallOutcome::of_refusal(refusal.code),
    }
}

fn response(response: OutboundResponse) -> HttpResponse {
    HttpResponse { status: response.status, headers: response.headers, body: response.body }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn json(body: Bytes) -> Result<Box<RawValue>, HostError> {
    String::from_utf8(body.into()).ok().and_then(|text| RawValue::from_string(text).ok()).ok_or_else(|| {
        HostError { code: "internal".to_owned(), message: "the rows are not valid JSON".to_owned() }
    })
}
