//! Requests of app code on their way: their record in the trace and at their gate, from the start to the end of the response.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use connections::{
    GateHost, OutboundBody, OutboundRequest, OutboundResponse, Refusal, RefusalCode,
    egress::log_entry::{EgressLogEntry, EgressOutcome},
    health::CallOutcome,
    outbound::SearchAccount,
};
use futures::{Stream, StreamExt as _, stream::BoxStream};
use kernel::{
    StoreError, Timestamp,
    id::{ConnectionId, GateId, WorkspaceId},
};
use runs::{
    engine::{FetchBody, FetchRequest, FetchResponse, HostError, LogLevel},
    runs::StepStatus,
};
use tokio::time::Instant;

use super::{
    Inner,
    trace::{RunTrace, finished_step},
};
use crate::connection_limits::ConnectionSlot;

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

/// A request that has not ended. It is recorded once: at its end, or when it is dropped before. What was sent by then is not
/// known, so it is never left out of the record.
pub(super) struct OutgoingRequest {
    inner: Arc<Inner>,
    workspace: WorkspaceId,
    trace: Arc<Mutex<RunTrace>>,
    /// `None` once it is recorded.
    label: Option<String>,
    begun: CallTimer,
    /// The connection that it goes through.
    connection: Option<ConnectionId>,
    /// The host of that connection.
    host: Option<String>,
    /// The gate that counts it.
    gate: Option<GateId>,
    /// Its place among the requests of its connection.
    slot: ConnectionSlot,
    /// Status of the response, once its headers are there.
    status: Option<u16>,
}

impl OutgoingRequest {
    pub(super) fn begin(
        inner: &Arc<Inner>,
        workspace: WorkspaceId,
        trace: &Arc<Mutex<RunTrace>>,
        label: String,
    ) -> Self {
        Self {
            inner: Arc::clone(inner),
            workspace,
            trace: Arc::clone(trace),
            label: Some(label),
            begun: CallTimer::start(inner.clock.now()),
            connection: None,
            host: None,
            gate: None,
            slot: ConnectionSlot::default(),
            status: None,
        }
    }

    /// Says which connection the request goes through.
    pub(super) fn through(&mut self, connection: ConnectionId) {
        self.connection = Some(connection);
    }

    /// Says to which host the connection leads.
    pub(super) fn leads_to(&mut self, host: &GateHost) {
        self.host = Some(host.as_str().to_owned());
    }

    /// Says which gate counts the request.
    pub(super) fn count_at(&mut self, gate: GateId) {
        self.gate = Some(gate);
    }

    /// Keeps the request's place until its end.
    pub(super) fn hold(&mut self, slot: ConnectionSlot) {
        self.slot = slot;
    }

    /// Records a request that got no response, or hands on the response; a streamed one is recorded at the end of its body.
    pub(super) fn finish(
        mut self,
        result: Result<OutboundResponse, FetchError>,
    ) -> Result<FetchResponse, HostError> {
        let OutboundResponse { status, headers, body, redirected_to } = result.map_err(|error| {
            self.record(Err(&error));
            HostError::from(error)
        })?;
        self.status = Some(status);
        let body = match body {
            OutboundBody::Complete(body) => {
                self.record(Ok(status));
                FetchBody::Complete(body)
            }
            OutboundBody::Stream(pieces) => FetchBody::Stream(RecordedBody { request: self, pieces }.boxed()),
        };
        Ok(FetchResponse { status, headers, body, redirected_to })
    }

    /// Records the request as a log line and a step, and counts it at its gate.
    fn record(&mut self, result: Result<u16, &FetchError>) {
        let Some(label) = self.label.take() else { return };
        self.slot = ConnectionSlot::default();
        let now = self.inner.clock.now();
        let (at, millis) = self.begun.elapsed();
        let mut refusal = None;
        let (level, status, verdict, detail) = match result {
            Ok(status) => {
                (LogLevel::Info, StepStatus::Ok, EgressOutcome::Allowed(status), status.to_string())
            }
            Err(refused) => {
                refusal = refused.policy_refusal();
                let status = if refusal.is_some() { StepStatus::Blocked } else { StepStatus::Failed };
                let verdict = EgressOutcome::Refused(refused.code().to_owned());
                (LogLevel::Warn, status, verdict, refused.code().to_owned())
            }
        };
        let outcome = match result {
            Ok(status) => Some(CallOutcome::of_status(status)),
            Err(FetchError::Gate(refusal)) => Some(CallOutcome::of_refusal(refusal.code)),
            Err(FetchError::Aborted) => Some(CallOutcome::Aborted),
            Err(FetchError::Unavailable(_)) => None,
        };
        if let Some((gate, outcome)) = self.gate.zip(outcome) {
            self.inner.calls.count(self.workspace, gate, now, outcome);
        }
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = refusal {
            trace.add_refusal(code.as_str());
        }
        let note = EgressLogEntry {
            label: label.clone(),
            connection_id: self.connection,
            connection_host: self.host.take(),
            outcome: verdict,
            duration_ms: Some(millis),
        };
        trace.push_line(now, level, true, note.to_string());
        trace.push_step(finished_step(label, status, (at, millis), detail));
    }
}

impl Drop for OutgoingRequest {
    fn drop(&mut self) {
        // The code need not read a body to its end.
        let result = self.status.ok_or(&FetchError::Aborted);
        self.record(result);
    }
}

/// The body of a response, whose end is the end of its request.
struct RecordedBody {
    request: OutgoingRequest,
    pieces: BoxStream<'static, Result<Bytes, Refusal>>,
}

impl Stream for RecordedBody {
    type Item = Result<Bytes, HostError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = futures::ready!(this.pieces.poll_next_unpin(cx));
        Poll::Ready(match next {
            Some(Ok(piece)) => Some(Ok(piece)),
            Some(Err(refusal)) => {
                let error = FetchError::Gate(refusal);
                this.request.record(Err(&error));
                Some(Err(error.into()))
            }
            None => {
                let status = this.request.status.unwrap_or_default();
                this.request.record(Ok(status));
                None
            }
        })
    }
}

/// Returns a request of the code as the gate sends it; the search for secrets in its response is charged to `search`.
pub(super) fn to_outbound(request: FetchRequest, search: SearchAccount) -> OutboundRequest {
    let body = match request.body {
        FetchBody::Complete(body) => OutboundBody::Complete(body),
        FetchBody::Stream(pieces) => {
            let aborted = |HostError { message, .. }| Refusal::new(RefusalCode::UpstreamFailed, message);
            OutboundBody::Stream(pieces.map(move |piece| piece.map_err(aborted)).boxed())
        }
    };
    OutboundRequest { headers: request.headers, body, redirect: request.redirect, search }
}

/// The reason for which a request got no response, or not all of it.
pub(super) enum FetchError {
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
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Gate(refusal) => refusal.code(),
            Self::Unavailable(_) => "unavailable",
            Self::Aborted => "aborted",
        }
    }

    fn policy_refusal(&self) -> Option<RefusalCode> {
        match self {
            Self::Gate(refusal) if refusal.code.is_policy_refusal() => Some(refusal.code),
            _ => None,
        }
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
