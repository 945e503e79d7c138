//! What the gate decided in a run, and what was said last.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use connections::egress::log_entry::{EgressLogEntry, EgressOutcome};
use kernel::{authority::AppAccess, id::RunId};
use observability::{LogLine, LogSource};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    routes::logs::list::LogLineView,
    state::Api,
};

/// How many of the gate's last decisions are given.
const MAX_DECISIONS: u32 = 200;
/// How many of the last lines are given.
const MAX_LINES: u32 = 100;

/// What the gate decided in a run, and what was said last.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunTrace {
    run_id: RunId,
    /// The last 200 decisions, oldest first.
    gate: Vec<GateDecision>,
    /// The last 100 lines, oldest first; without what the code said for those who cannot edit the app.
    lines: Vec<LogLineView>,
}

/// What the gate decided about one request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateDecision {
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    /// Null when the address had no proper host, or the request went through a connection.
    #[schema(required)]
    host: Option<String>,
    /// The name of the connection it went through.
    #[schema(required)]
    connection: Option<String>,
    method: String,
    decision: EgressDecision,
    /// Why it was refused.
    #[schema(required)]
    reason: Option<String>,
    /// What the other side answered with.
    #[schema(required)]
    status: Option<u16>,
    /// Null of runs that ran before this was noted.
    #[schema(required)]
    duration_ms: Option<u64>,
}

/// What was decided.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = EgressDecision)]
pub(crate) enum EgressDecision {
    Allowed,
    Refused,
}

/// The request that a line of the gate's tells of.
fn gate_decision(line: &LogLine) -> Option<GateDecision> {
    let note: EgressLogEntry = line.content.message.parse().ok()?;
    let (decision, reason, status) = match &note.outcome {
        EgressOutcome::Allowed(status) => (EgressDecision::Allowed, None, Some(*status)),
        EgressOutcome::Refused(code) => (EgressDecision::Refused, Some(code.clone()), None),
    };
    Some(GateDecision {
        at: line.content.at,
        host: note.host().map(str::to_owned),
        connection: note.connection().map(str::to_owned),
        method: note.method().to_owned(),
        decision,
        reason,
        status,
        duration_ms: note.duration_ms,
    })
}

/// Read what the gate decided in a run, and its last lines
#[utoipa::path(get, path = "/v1/runs/{id}/trace", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), responses((status = 200, body = RunTrace)))]
pub(crate) async fn read_run_trace(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (RunId, AppAccess)>,
) -> ApiResult<Json<RunTrace>> {
    let decided = api.run_log_lines(&access, id, Some(LogSource::Gate), MAX_DECISIONS).await?;
    let lines = api.run_log_lines(&access, id, None, MAX_LINES).await?;
    Ok(Json(RunTrace {
        run_id: id,
        gate: decided.iter().filter_map(gate_decision).collect(),
        lines: lines.into_iter().map(LogLineView::from).collect(),
    }))
}
