//! What a draft did, on the wire.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chrono::{DateTime, Utc};
use kernel::events::RefusedRequest;
use observability::{LogLevel, LogSource};
use runs::{
    drafts::{DraftOutcome, DraftOutput},
    engine,
    queue::RunLogLine,
    runs::{Step, StepStatus},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::schemas;

/// What a draft did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftRun {
    /// Status of the response; of `scheduled`, 200 if it returned and 500 if it failed.
    #[schema(minimum = 200, maximum = 599)]
    status: u16,
    /// Headers of the response, in order.
    headers: Vec<Header>,
    /// The first 64 KiB of the response's body; of `scheduled`, the JSON that it returned. Null if there is none.
    #[schema(required)]
    body: Option<String>,
    /// `true` if `body` is base64, because it is not UTF-8.
    is_base64: bool,
    /// `true` if the body is longer than what is shown.
    is_cut: bool,
    /// Why the code failed.
    #[schema(required)]
    error: Option<DraftError>,
    /// Lines that the code and the gate logged. They are not in the app's log.
    logs: Vec<DraftLogLine>,
    /// Requests to other hosts, and calls of rows.
    gate: Vec<DraftStep>,
    /// Requests that were refused, and what would allow them.
    missing: Vec<MissingAccess>,
    /// Number of rows that were inserted, updated and deleted.
    rows_written: u64,
    duration_ms: u64,
}

/// A header of a response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DraftHeader)]
pub(crate) struct Header {
    name: String,
    value: String,
}

/// Why a draft failed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DraftError {
    /// Code, as of a failed run.
    code: &'static str,
    message: String,
}

/// A line of a draft's log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DraftLogLine {
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    #[schema(value_type = schemas::observability::LogLevel)]
    level: LogLevel,
    #[schema(value_type = schemas::observability::LogSource)]
    source: LogSource,
    message: String,
}

/// A call that a draft made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftStep {
    label: String,
    #[schema(value_type = schemas::runs::StepStatus)]
    status: StepStatus,
    #[schema(required)]
    detail: Option<String>,
    #[schema(required)]
    duration_ms: Option<u64>,
}

/// A request that was refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MissingAccess {
    /// Method and host.
    request: String,
    /// Code of the refusal.
    code: String,
    /// Sentence that plans a change that allows the request; null if the manifest allows it already, and a gate does not.
    #[schema(required)]
    instruction: Option<String>,
}

impl DraftRun {
    pub(super) fn of(outcome: DraftOutcome) -> Self {
        let (status, headers, body, is_base64, is_cut, error) = match outcome.result {
            Ok(DraftOutput::Returned(returned)) => {
                let is_cut = returned.is_none();
                (200, Vec::new(), returned.map(|json| json.get().to_owned()), false, is_cut, None)
            }
            Ok(DraftOutput::Response { status, headers, body, is_cut }) => {
                // A character may be cut in two at the end.
                let text = match std::str::from_utf8(&body) {
                    Ok(text) => Some(text),
                    Err(error) if is_cut && error.error_len().is_none() => {
                        std::str::from_utf8(&body[..error.valid_up_to()]).ok()
                    }
                    Err(_) => None,
                };
                let is_base64 = text.is_none();
                let body = text.map_or_else(|| STANDARD.encode(&body), str::to_owned);
                let headers = headers.into_iter().map(|(name, value)| Header { name, value }).collect();
                (status, headers, Some(body), is_base64, is_cut, None)
            }
            Err(failure) => {
                let error = DraftError { code: failure.code.as_str(), message: failure.message };
                (500, Vec::new(), None, false, false, Some(error))
            }
        };
        Self {
            status,
            headers,
            body,
            is_base64,
            is_cut,
            error,
            logs: outcome.lines.into_iter().map(DraftLogLine::from).collect(),
            gate: outcome.steps.into_iter().map(DraftStep::from).collect(),
            missing: outcome.refused.into_iter().map(MissingAccess::from).collect(),
            rows_written: outcome.rows_written,
            duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl From<RunLogLine> for DraftLogLine {
    fn from(line: RunLogLine) -> Self {
        let level = match line.level {
            engine::LogLevel::Debug => LogLevel::Debug,
            engine::LogLevel::Info => LogLevel::Info,
            engine::LogLevel::Warn => LogLevel::Warn,
            engine::LogLevel::Error => LogLevel::Error,
        };
        let source = if line.is_from_gate { LogSource::Gate } else { LogSource::App };
        Self { at: line.at, level, source, message: line.message }
    }
}

impl From<Step> for DraftStep {
    fn from(step: Step) -> Self {
        Self { label: step.label, status: step.status, detail: step.detail, duration_ms: step.duration_ms }
    }
}

impl From<RefusedRequest> for MissingAccess {
    fn from(refused: RefusedRequest) -> Self {
        let by_manifest = matches!(refused.code.as_str(), "egress_denied" | "method_denied");
        let instruction = refused
            .request_line
            .split_once(' ')
            .filter(|_| by_manifest)
            .map(|(method, host)| format!("Allow {method} to {host}."));
        Self { request: refused.request_line, code: refused.code, instruction }
    }
}
