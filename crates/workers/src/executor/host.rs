//! The host of one invocation: what app code can reach.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use apps::manifest::{SecretPermission, SecretUse};
use async_trait::async_trait;
use bytes::Bytes;
use connections::{
    EgressPermit, EgressPolicy, OutboundResponse, Refusal, RefusalCode,
    app_secrets::headers::{SecretHeader, take_secret_headers},
    authorize_connection, authorize_egress,
    connection::gate_of,
    egress::log_entry::{EgressLogEntry, EgressOutcome},
    health::CallOutcome,
    outbound::SearchAccount,
    scrub::Scrubber,
};
use kernel::{
    ShareId, StoreError, Timestamp,
    id::{AppId, WorkspaceId},
};
use observability::{Measurement, metrics::Workload};
use runs::{
    approvals::{ApprovalAnswer, MAX_QUESTIONS, check_question},
    engine::{
        ApprovalQuestion, DataCall, Failure, FetchRequest, FetchResponse, Host, HostError, KeyUse, LogLevel,
    },
    runs::StepStatus,
};
use secrecy::SecretString;
use serde_json::value::RawValue;
use tokio::sync::{Notify, OnceCell};

use super::{
    Inner, egress,
    outgoing::{CallTimer, FetchError, OutgoingRequest, to_outbound},
    redaction::Redaction,
    rows,
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
    redaction: Option<Redaction>,
    /// Account of searches for secrets.
    search: SearchAccount,
    /// Gates as they were at the first request.
    policy: OnceCell<Arc<EgressPolicy>>,
    trace: Arc<Mutex<RunTrace>>,
    rows_written: AtomicU64,
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
        let record = Arc::new(Mutex::new(RunTrace::new(&inner.settings.limits, log_bytes)));
        let payer = Arc::clone(&inner);
        let share = content.share;
        let search = SearchAccount::new(share, move |used| {
            payer.engine.charge_cpu_time(share, used);
            payer.record_measurement((workspace, app), Measurement::CpuTime { workload, used });
        });
        let redaction = clear_secrets.map(|scrubber| Redaction::new(scrubber, search.clone()));
        Self {
            inner,
            workspace,
            app,
            content,
            bindings,
            redaction,
            search,
            policy: OnceCell::new(),
            trace: record,
            rows_written: AtomicU64::new(0),
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

    /// Takes the trace and leaves an empty one. Its lines may have secrets until [`Self::redact_trace`].
    pub(super) fn take_trace(&self) -> RunTrace {
        let mut record = self.trace();
        let fresh = RunTrace::new(&self.inner.settings.limits, record.max_bytes());
        let mut taken = std::mem::replace(&mut *record, fresh);
        drop(record);
        taken.finish_log(self.now());
        taken
    }

    /// Returns the number of rows that the code inserted, updated and deleted by now.
    pub(super) fn rows_written(&self) -> u64 {
        self.rows_written.load(Ordering::Relaxed)
    }

    /// Returns `true` if the code has secrets in clear.
    pub(super) fn has_clear_secrets(&self) -> bool {
        self.redaction.is_some()
    }

    /// Returns the share that the code belongs to.
    pub(super) fn share(&self) -> ShareId {
        self.search.share()
    }

    /// Redacts secrets that the code has in clear in the lines that it logged.
    pub(super) async fn redact_trace(&self, mut trace: RunTrace) -> RunTrace {
        if let Some(redaction) = &self.redaction {
            trace.redact(redaction).await;
        }
        trace
    }

    /// Redacts secrets that the code has in clear in the message of its failure.
    pub(super) async fn redact(&self, mut failure: Failure) -> Failure {
        if let Some(redaction) = &self.redaction {
            failure.message = redaction.redact(failure.message).await;
        }
        failure
    }

    /// Redacts secrets that the code has in clear in the value that it returned. A value that is no JSON without them is not
    /// kept at all.
    pub(super) async fn redact_result(&self, returned: Box<RawValue>) -> Option<Box<RawValue>> {
        let Some(redaction) = &self.redaction else { return Some(returned) };
        RawValue::from_string(redaction.redact(returned.get().to_owned()).await).ok()
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
    fn take_secret_headers(&self, request: &mut FetchRequest) -> Result<Vec<SecretHeader>, Refusal> {
        let declared = self.content.manifest.permissions.secrets.iter();
        take_secret_headers(&mut request.headers, declared.map(|secret| secret.name.as_str()))
    }

    /// Sends a permitted request, with the secrets of the app that its headers name.
    async fn send_permitted(
        &self,
        mut request: FetchRequest,
        permit: EgressPermit,
    ) -> Result<OutboundResponse, FetchError> {
        let headers = self.take_secret_headers(&mut request)?;
        let outgoing = to_outbound(request, self.search.clone());
        if headers.is_empty() {
            return Ok(self.inner.outbound.send(outgoing, permit).await?);
        }
        for SecretHeader { secret, .. } in &headers {
            let declared =
                self.content.manifest.permissions.secrets.iter().find(|known| known.name == *secret);
            if declared.is_none_or(|declared| !declared.allows(SecretUse::Header)) {
                let message = format!("the app's manifest does not allow the secret {secret} in a header");
                return Err(Refusal::new(RefusalCode::HeaderDenied, message).into());
            }
        }
        let scope = (self.workspace, self.app);
        let secrets = self.inner.secrets.for_headers(scope, &headers, permit.host()).await;
        let secrets = secrets.map_err(FetchError::Unavailable)??;
        Ok(self.inner.outbound.send_with_secrets(outgoing, permit, &headers, &secrets).await?)
    }

    /// Sends a request that the policy permits.
    async fn send(
        &self,
        request: FetchRequest,
        outgoing: &mut OutgoingRequest,
    ) -> Result<OutboundResponse, FetchError> {
        let policy = self.policy().await.map_err(FetchError::Unavailable)?;
        if let Some(gate) = egress::gate_of(&request.url, policy) {
            outgoing.count_at(gate);
        }
        let permit = authorize_egress(&request.url, &request.method, policy)?;
        self.send_permitted(request, permit).await
    }

    /// Sends a request through the connection that the manifest names so. The connection is read for every request, so
    /// that it ends with a disconnect.
    async fn send_through(
        &self,
        name: &str,
        mut request: FetchRequest,
        outgoing: &mut OutgoingRequest,
    ) -> Result<OutboundResponse, FetchError> {
        let inner = &self.inner;
        let not_connected = |what: &str| {
            FetchError::Gate(Refusal::new(RefusalCode::NotConnected, format!("the connection {name} {what}")))
        };
        let declared = self.content.manifest.permissions.connectors.iter().find(|known| known.name == name);
        let Some(declared) = declared else {
            let message = "the app's manifest does not name the connection";
            return Err(Refusal::new(RefusalCode::NotConnected, message).into());
        };
        outgoing.through(declared.connection_id);
        let found = inner.connections.find_connection(self.workspace, declared.connection_id).await;
        let connection = found.map_err(FetchError::Unavailable)?;
        let connection = connection.ok_or_else(|| not_connected("does not exist"))?;
        let policy = egress::limited_policy(connection, declared, &inner.settings);
        let connection = &policy.connection;
        outgoing.leads_to(&connection.http.host);
        outgoing.count_at(gate_of(connection.id));
        let result = async {
            let permit = authorize_connection(&request.url, &request.method, &policy)?;
            if let Some(taken) = self.take_secret_headers(&mut request)?.first() {
                let message =
                    format!("the secret {} cannot be sent through a connection; use fetch", taken.secret);
                return Err(Refusal::new(RefusalCode::HeaderDenied, message));
            }
            outgoing.hold(inner.connection_limits.admit(connection.id)?);
            let credentials = UninterruptedCredentials(Arc::clone(&inner.credentials));
            let outgoing = to_outbound(request, self.search.clone());
            inner.outbound.send_through_connection(outgoing, permit, &credentials).await
        };
        let result = result.await;
        let outcome = match &result {
            Ok(response) => CallOutcome::of_status(response.status),
            Err(refusal) => CallOutcome::of_refusal(refusal.code),
        };
        inner.credentials.record_outcome(connection, outcome).await;
        Ok(result?)
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

    fn begin_request(&self, label: String) -> OutgoingRequest {
        OutgoingRequest::begin(&self.inner, self.workspace, &self.trace, label)
    }

    fn start_timer(&self) -> CallTimer {
        CallTimer::start(self.now())
    }
}

#[async_trait]
impl Host for AppHost {
    fn log(&self, level: LogLevel, message: String) {
        let now = self.now();
        match &self.redaction {
            Some(_) => self.trace().push_unsearched_line(now, level, message),
            None => self.trace().push_line(now, level, false, message),
        }
    }

    fn record_cpu_time(&self, used: Duration) {
        let measurement = Measurement::CpuTime { workload: self.workload, used };
        self.inner.record_measurement((self.workspace, self.app), measurement);
    }

    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, HostError> {
        let mut outgoing = self.begin_request(egress::label(&request.method, &request.url));
        let result = self.send(request, &mut outgoing).await;
        outgoing.finish(result)
    }

    async fn connection_fetch(&self, name: &str, request: FetchRequest) -> Result<FetchResponse, HostError> {
        let declared = self.content.manifest.permissions.connectors.iter().any(|known| known.name == name);
        let label = egress::connection_label(&request.method, if declared { name } else { "?" });
        let mut outgoing = self.begin_request(label);
        let result = self.send_through(name, request, &mut outgoing).await;
        outgoing.finish(result)
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
            let note = EgressLogEntry {
                label: label.clone(),
                connection_id: None,
                connection_host: None,
                outcome,
                duration_ms: Some(millis),
            };
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
        let is_write = rows::is_write(&call);
        let result = match self.bindings.iter().find(|binding| binding.name == name) {
            Some(binding) => rows::execute(&self.inner.rows, binding, call).await,
            None => Err(rows::binding_not_found()),
        };
        if let (true, Ok(done)) = (is_write, &result) {
            self.rows_written.fetch_add(done.rows(), Ordering::Relaxed);
        }
        let (status, detail) = match &result {
            Ok(done) => (StepStatus::Ok, done.detail()),
            Err(error) => (StepStatus::Failed, Some(error.code.clone())),
        };
        self.trace().push_step(finished_step(label, status, begun.elapsed(), detail));
        json(result?.body)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn json(body: Bytes) -> Result<Box<RawValue>, HostError> {
    String::from_utf8(body.into()).ok().and_then(|text| RawValue::from_string(text).ok()).ok_or_else(|| {
        HostError { code: "internal".to_owned(), message: "the rows are not valid JSON".to_owned() }
    })
}
