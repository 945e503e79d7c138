//! Reading the gate's decisions in a run, and its last log lines.

use application::Problem;
use apps::manifest::ConnectorPermission;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use connections::egress::log_entry::{EgressLogEntry, EgressOutcome};
use kernel::{
    authority::AppAccess,
    id::{ConnectionId, RunId},
};
use observability::{LogLine, LogSource};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    routes::logs::list::LogLineView,
    state::Api,
};

/// Maximum number of decisions, the last of the run.
const MAX_DECISIONS: u32 = 200;
/// Maximum number of log lines, the last of the run.
const MAX_LINES: u32 = 100;

/// The gate's decisions in a run, and its last log lines.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunTrace {
    run_id: RunId,
    /// Last 200 decisions, oldest first.
    gate: Vec<GateDecision>,
    /// Last 100 lines, oldest first; without the output of the code for people who cannot edit the app.
    lines: Vec<LogLineView>,
}

/// The gate's decision about a request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateDecision {
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    /// Null if the URL had no valid host, or it is not known to which host the connection led.
    #[schema(required)]
    host: Option<String>,
    /// Name of the connection that the request went through.
    #[schema(required)]
    connection: Option<String>,
    /// Id of that connection; null if the manifest does not declare the name.
    #[schema(required)]
    connection_id: Option<ConnectionId>,
    /// Method; `Secret` for a secret that the code may not use as a key.
    method: String,
    decision: EgressDecision,
    /// Code of the refusal.
    #[schema(required)]
    reason: Option<String>,
    /// Status of the response.
    #[schema(required)]
    status: Option<u16>,
    /// Null for runs from before the duration was recorded.
    #[schema(required)]
    duration_ms: Option<u64>,
}

/// Decision about a request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = EgressDecision)]
pub(crate) enum EgressDecision {
    Allowed,
    Refused,
}

/// Returns the request in a log line of the gate.
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
        connection_id: note.connection_id,
        method: note.method().to_owned(),
        decision,
        reason,
        status,
        duration_ms: note.duration_ms,
    })
}

/// Read the gate's decisions in a run, and its last log lines
#[utoipa::path(get, path = "/v1/runs/{id}/trace", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), responses((status = 200, body = RunTrace)))]
pub(crate) async fn read_run_trace(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (RunId, AppAccess)>,
) -> ApiResult<Json<RunTrace>> {
    let decided = api.run_log_lines(&access, id, Some(LogSource::Gate), MAX_DECISIONS).await?;
    let lines = api.run_log_lines(&access, id, None, MAX_LINES).await?;
    let mut gate: Vec<GateDecision> = decided.iter().filter_map(gate_decision).collect();
    // Lines of earlier versions have the name only.
    let has_name_only =
        |decision: &GateDecision| decision.connection.is_some() && decision.connection_id.is_none();
    if gate.iter().any(has_name_only) {
        let connectors = connectors_of(&api, &access, id).await?;
        for decision in gate.iter_mut().filter(|decision| has_name_only(decision)) {
            let named = connectors.iter().find(|named| Some(&named.name) == decision.connection.as_ref());
            decision.connection_id = named.map(|named| named.connection_id);
        }
    }
    Ok(Json(RunTrace { run_id: id, gate, lines: lines.into_iter().map(LogLineView::from).collect() }))
}

/// Returns the connections that the manifest of the run's version names.
async fn connectors_of(
    api: &Api,
    access: &AppAccess,
    run: RunId,
) -> Result<Vec<ConnectorPermission>, Problem> {
    let workspace = access.member().workspace();
    let run = api.store().run(workspace, run).await?;
    let Some(version) = run.and_then(|run| run.version) else { return Ok(Vec::new()) };
    let content = api.store().version(workspace, access.app(), version.id).await?;
    Ok(content.map_or_else(Vec::new, |(_, content)| content.manifest.permissions.connectors))
}
