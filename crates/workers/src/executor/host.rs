//! The outside of one invocation.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use bytes::Bytes;
use connections::{
    EgressPolicy, OutboundRequest, Refusal, RefusalCode, decide,
    egress::note::{GateNote, Verdict},
};
use kernel::{StoreError, Timestamp, id::WorkspaceId};
use runs::{
    approvals::{Answer, MAX_QUESTIONS, check_question},
    engine::{DataCall, Host, HostError, HttpRequest, HttpResponse, LogLevel, Question},
    runs::StepStatus,
};
use serde_json::value::RawValue;
use tokio::{
    sync::{Notify, OnceCell},
    time::Instant,
};

use super::{
    Inner,
    content::{Binding, Content},
    egress,
    record::{Record, step},
    rows,
};

/// Serves one invocation, and notes what it asked for.
pub(super) struct AppHost {
    inner: Arc<Inner>,
    workspace: WorkspaceId,
    content: Arc<Content>,
    bindings: Vec<Binding>,
    /// The gates as they stood at the first request.
    policy: OnceCell<Arc<EgressPolicy>>,
    record: Mutex<Record>,
    asking: Asking,
}

/// What code asks people, and what they have answered.
#[derive(Default)]
struct Asking {
    /// The answers to come, the next first; none where nobody can be asked.
    answers: Mutex<Option<VecDeque<Answer>>>,
    /// The first question without an answer.
    open: Mutex<Option<(u32, Question)>>,
    number: AtomicU32,
    rings: Notify,
}

impl AppHost {
    pub(super) fn new(
        inner: Arc<Inner>,
        workspace: WorkspaceId,
        content: Arc<Content>,
        bindings: Vec<Binding>,
        log_bytes: usize,
    ) -> Self {
        let record = Mutex::new(Record::new(&inner.settings.limits, log_bytes));
        Self {
            inner,
            workspace,
            content,
            bindings,
            policy: OnceCell::new(),
            record,
            asking: Asking::default(),
        }
    }

    /// Lets the code ask people, who have answered this much so far.
    pub(super) fn answer_with(&self, answers: Vec<Answer>) {
        *lock(&self.asking.answers) = Some(answers.into());
    }

    /// Waits until the code has asked what nobody has answered; gives that question and its number.
    pub(super) async fn asked(&self) -> (u32, Question) {
        loop {
            let rings = self.asking.rings.notified();
            if let Some(open) = lock(&self.asking.open).take() {
                return open;
            }
            rings.await;
        }
    }

    /// Takes what was noted.
    pub(super) fn take_record(&self) -> Record {
        let mut record = self.record();
        let fresh = Record::new(&self.inner.settings.limits, record.max_bytes());
        let mut taken = std::mem::replace(&mut *record, fresh);
        drop(record);
        taken.close(self.now());
        taken
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    async fn policy(&self) -> Result<&Arc<EgressPolicy>, StoreError> {
        let load = async || {
            let gates = self.inner.reads.open_gates(self.workspace).await?;
            Ok(egress::policy(&self.content.manifest, gates, &self.inner.settings))
        };
        self.policy.get_or_try_init(load).await
    }

    /// Sends what is permitted.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Refused> {
        let policy = self.policy().await.map_err(Refused::NoGates)?;
        let permit = decide(&request.url, &request.method, policy)?;
        if permit.connection().is_some() {
            // Without its secret the request would not be the one that the gate stands for.
            let message = format!("the gate to {} needs a connection that is not there", permit.host());
            return Err(Refusal::new(RefusalCode::NotConnected, message).into());
        }
        let outgoing = OutboundRequest { headers: request.headers, body: request.body };
        let response = self.inner.outbound.send(outgoing, permit).await?;
        Ok(HttpResponse { status: response.status, headers: response.headers, body: response.body })
    }

    /// Notes what became of a request: a line of log and a step.
    fn note_request(&self, label: String, begun: Begun, result: &Result<HttpResponse, Refused>) {
        let (at, millis) = begun.until_now();
        let (level, status, verdict, detail) = match result {
            Ok(response) => {
                let verdict = Verdict::Allowed(response.status);
                (LogLevel::Info, StepStatus::Ok, verdict, response.status.to_string())
            }
            Err(refused) => {
                let status = if refused.is_rule() { StepStatus::Blocked } else { StepStatus::Failed };
                let verdict = Verdict::Refused(refused.code().to_owned());
                (LogLevel::Warn, status, verdict, refused.code().to_owned())
            }
        };
        let mut record = self.record();
        if let Err(refused) = result
            && refused.is_rule()
        {
            record.refused(refused.code());
        }
        let note = GateNote { label: label.clone(), verdict, duration_ms: Some(millis) };
        record.say(self.now(), level, true, note.to_string());
        record.did(step(label, status, (at, millis), detail));
    }

    fn begin(&self) -> Begun {
        Begun(self.now(), Instant::now())
    }
}

/// When a call began.
#[derive(Clone, Copy)]
pub(super) struct Begun(Timestamp, Instant);

impl Begun {
    pub(super) fn at(now: Timestamp) -> Self {
        Self(now, Instant::now())
    }

    /// The moment, and how many milliseconds ago it was.
    pub(super) fn until_now(self) -> (Timestamp, u64) {
        (self.0, u64::try_from(self.1.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// Why a request got no answer.
enum Refused {
    /// The gate, or what lies behind it.
    Gate(Refusal),
    /// The gates could not be read, so nothing leaves.
    NoGates(StoreError),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Gate(refusal)
    }
}

impl Refused {
    fn code(&self) -> &'static str {
        match self {
            Self::Gate(refusal) => refusal.code(),
            Self::NoGates(_) => "unavailable",
        }
    }

    fn is_rule(&self) -> bool {
        matches!(self, Self::Gate(refusal) if refusal.code.is_rule())
    }
}

impl From<Refused> for HostError {
    fn from(refused: Refused) -> Self {
        let code = refused.code().to_owned();
        let message = match refused {
            Refused::Gate(refusal) => refusal.message,
            Refused::NoGates(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the gates cannot be read");
                "the gates cannot be read now".to_owned()
            }
        };
        Self { code, message }
    }
}

#[async_trait]
impl Host for AppHost {
    fn log(&self, level: LogLevel, message: String) {
        let now = self.now();
        self.record().say(now, level, false, message);
    }

    async fn fetch(&self, request: HttpRequest) -> Result<HttpResponse, HostError> {
        let begun = self.begin();
        let label = egress::label(&request.method, &request.url);
        let result = self.send(request).await;
        self.note_request(label, begun, &result);
        result.map_err(HostError::from)
    }

    async fn connection_fetch(&self, name: &str, request: HttpRequest) -> Result<HttpResponse, HostError> {
        let begun = self.begin();
        let declared = self.content.manifest.permissions.connectors.iter().any(|known| known.name == name);
        let label = egress::connection_label(&request.method, if declared { name } else { "?" });
        let refusal = Refusal::new(RefusalCode::NotConnected, "the connection is not there");
        let result = Err(Refused::Gate(refusal));
        self.note_request(label, begun, &result);
        result.map_err(HostError::from)
    }

    async fn approval(&self, question: Question) -> Result<Box<RawValue>, HostError> {
        let refuse = |message: String| HostError { code: "approval_unavailable".to_owned(), message };
        check_question(&question).map_err(refuse)?;
        let answer = match &mut *lock(&self.asking.answers) {
            None => return Err(refuse("only a run can ask a person".to_owned())),
            Some(answers) => answers.pop_front(),
        };
        let number = self.asking.number.fetch_add(1, Ordering::Relaxed);
        if number as usize >= MAX_QUESTIONS {
            return Err(refuse(format!("a run may ask at most {MAX_QUESTIONS} questions")));
        }
        if let Some(answer) = answer {
            let json = serde_json::value::to_raw_value(&answer).map_err(|error| refuse(error.to_string()))?;
            self.record().did(step(
                "Ask a person".to_owned(),
                StepStatus::Ok,
                self.begin().until_now(),
                question.title,
            ));
            return Ok(json);
        }
        // One question at a time: what is asked beside it is asked again when the run is begun again.
        lock(&self.asking.open).get_or_insert((number, question));
        self.asking.rings.notify_one();
        std::future::pending().await
    }

    async fn data(&self, name: &str, call: DataCall) -> Result<Box<RawValue>, HostError> {
        let begun = self.begin();
        let label = rows::label(&call);
        let result = match self.bindings.iter().find(|binding| binding.name == name) {
            Some(binding) => rows::perform(&self.inner.rows, binding, call).await,
            None => Err(rows::not_bound()),
        };
        let (status, detail) = match &result {
            Ok(done) => (StepStatus::Ok, done.detail()),
            Err(error) => (StepStatus::Failed, Some(error.code.clone())),
        };
        self.record().did(step(label, status, begun.until_now(), detail));
        json(result?.body)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn json(body: Bytes) -> Result<Box<RawValue>, HostError> {
    String::from_utf8(body.into()).ok().and_then(|text| RawValue::from_string(text).ok()).ok_or_else(|| {
        HostError { code: "internal".to_owned(), message: "the rows cannot be shown".to_owned() }
    })
}
