//! Runs on the wire.

use chrono::{DateTime, TimeDelta, Utc};
use kernel::id::{AppId, AutomationId, GrantId, RunId, VersionId, WorkspaceId};
use runs::{
    Run, RunStatus, TriggerKind,
    diagnosis::Explanation,
    runs::{AskingAgent, RunState, Step, StepStatus, VersionRef},
};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::http::{conditional::Representation, schemas};

/// A run, without its steps.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunSummary)]
pub(crate) struct RunView {
    id: RunId,
    workspace_id: WorkspaceId,
    app_id: AppId,
    app_name: String,
    /// Automation that started the run.
    #[schema(required)]
    road_id: Option<AutomationId>,
    #[schema(required)]
    road_name: Option<String>,
    #[schema(value_type = schemas::runs::TriggerKind)]
    trigger: TriggerKind,
    #[schema(value_type = schemas::runs::RunStatus)]
    status: RunStatus,
    /// Time at which the run started; until then, the time at which it was accepted.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    started_at: DateTime<Utc>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    finished_at: Option<DateTime<Utc>>,
    #[schema(required)]
    duration_ms: Option<u64>,
    /// Minutes of a person's work that the run saved.
    minutes_saved: f64,
    #[schema(required)]
    error_code: Option<String>,
    #[schema(required)]
    error_message: Option<String>,
    /// Version that the run has or had.
    #[schema(required)]
    version: Option<VersionRefView>,
    #[schema(required)]
    replay_of: Option<RunId>,
    /// Time at which the run was accepted.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    accepted_at: DateTime<Utc>,
    /// Number of attempts that were started.
    attempt: u32,
    /// Agent that started the run; null if a person, a token, a trigger or an earlier release did.
    #[schema(required)]
    asked_by: Option<AskingAgentView>,
}

/// An agent that started a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AskingAgent)]
pub(crate) struct AskingAgentView {
    /// Grant of its person.
    grant_id: GrantId,
    /// Name of its client; null if the grant is no longer kept.
    #[schema(required)]
    client_name: Option<String>,
}

impl From<AskingAgent> for AskingAgentView {
    fn from(agent: AskingAgent) -> Self {
        Self { grant_id: agent.grant, client_name: agent.client_name }
    }
}

/// A version of an app, as of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VersionRef)]
pub(crate) struct VersionRefView {
    id: VersionId,
    #[schema(required, minimum = 1)]
    number: Option<u32>,
    is_current: bool,
}

impl From<VersionRef> for VersionRefView {
    fn from(version: VersionRef) -> Self {
        Self { id: version.id, number: version.number, is_current: version.is_current }
    }
}

impl From<Run> for RunView {
    fn from(run: Run) -> Self {
        let fault = run.state.fault().cloned();
        let (started_at, finished_at) = (run.state.started_at(), run.state.finished_at());
        let duration = started_at.zip(finished_at).map(|(from, to)| to_millis(to - from));
        let (error_code, error_message) = fault.map(|fault| (fault.code, fault.message)).unzip();
        Self {
            status: run.state.status(),
            id: run.id,
            workspace_id: run.workspace,
            app_id: run.app,
            app_name: run.app_name,
            road_id: run.automation,
            road_name: run.automation_name,
            trigger: run.trigger,
            started_at: started_at.unwrap_or(run.accepted_at),
            finished_at,
            duration_ms: duration,
            minutes_saved: run.minutes_saved,
            error_code,
            error_message,
            version: run.version.map(VersionRefView::from),
            replay_of: run.replay_of,
            accepted_at: run.accepted_at,
            attempt: run.attempt,
            asked_by: run.asked_by.map(AskingAgentView::from),
        }
    }
}

fn to_millis(span: TimeDelta) -> u64 {
    u64::try_from(span.num_milliseconds()).unwrap_or_default()
}

/// A run with its steps.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Run)]
pub(crate) struct RunWithSteps {
    #[serde(flatten)]
    run: RunView,
    steps: Vec<StepView>,
    /// Value that the code returned. Kept of runs that a person or an agent started, up to 64 KiB of JSON; null for all
    /// others, until the run has succeeded, and if you may neither run nor edit the app.
    #[schema(required, value_type = serde_json::Value)]
    result: Option<Box<RawValue>>,
    /// Explanation of why the run failed or was blocked.
    #[schema(required)]
    explanation: Option<ExplanationView>,
}

impl Representation for RunWithSteps {}

/// Explanation of a run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Explanation)]
pub(crate) struct ExplanationView {
    /// Result or state of the run, in a sentence.
    #[schema(min_length = 1)]
    what: String,
    /// Cause, with the run's own message if it adds something.
    #[schema(min_length = 1)]
    why: String,
    /// Recommended action.
    #[schema(min_length = 1)]
    next: String,
}

impl From<Explanation> for ExplanationView {
    fn from(Explanation { what, why, next }: Explanation) -> Self {
        Self { what, why, next }
    }
}

/// A step of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunStep)]
pub(crate) struct StepView {
    index: usize,
    label: String,
    /// Location in the app; unknown, so always null.
    #[schema(required, value_type = serde_json::Value)]
    at: Option<serde_json::Value>,
    #[schema(value_type = schemas::runs::StepStatus)]
    status: StepStatus,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    started_at: Option<DateTime<Utc>>,
    #[schema(required)]
    duration_ms: Option<u64>,
    #[schema(required)]
    detail: Option<String>,
}

impl RunWithSteps {
    pub(crate) fn of(mut run: Run, explanation: Option<Explanation>, result: Option<Box<RawValue>>) -> Self {
        let mut steps = std::mem::take(&mut run.steps);
        if steps.is_empty() {
            steps.push(placeholder_step(&run));
        }
        let steps = steps.into_iter().enumerate().map(|(index, step)| StepView {
            index,
            label: step.label,
            at: None,
            status: step.status,
            started_at: step.started_at,
            duration_ms: step.duration_ms,
            detail: step.detail,
        });
        let explanation = explanation.map(Into::into);
        Self { steps: steps.collect(), run: run.into(), result, explanation }
    }
}

/// Returns a step for a run of which no attempt has finished yet.
fn placeholder_step(run: &Run) -> Step {
    let (label, status) = match run.state {
        RunState::Queued { .. } => ("Wait in the queue", StepStatus::Pending),
        RunState::Running { .. } => ("Run the code", StepStatus::Running),
        RunState::WaitingApproval { .. } => ("Wait for a person", StepStatus::Waiting),
        RunState::Succeeded(_) => ("Run the code", StepStatus::Ok),
        RunState::Failed(..) => ("Run the code", StepStatus::Failed),
        RunState::Blocked(..) => ("Run the code", StepStatus::Blocked),
    };
    let started_at = run.state.started_at();
    Step { label: label.to_owned(), status, started_at, duration_ms: None, detail: None }
}
