//! Runs: what became of accepted work (specification part B, "Run").

use std::str::FromStr;

use kernel::{
    Problem, Timestamp,
    events::RefusedRequest,
    id::{AppId, AutomationId, RunId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::{TriggerKind, queue::RunFault};

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunStatus {
    /// It waits.
    Queued,
    /// It is at work.
    Running,
    /// It waits for a person.
    WaitingApproval,
    /// It did what it should.
    Succeeded,
    /// It did not.
    Failed,
    /// The gate refused something.
    Blocked,
}

impl RunStatus {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::WaitingApproval => "waiting_approval",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
    }
}

impl FromStr for RunStatus {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Queued, Self::Running, Self::WaitingApproval, Self::Succeeded, Self::Failed, Self::Blocked]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| {
                let all = "must be queued, running, waiting_approval, succeeded, failed or blocked";
                Problem::invalid_field("status", all)
            })
    }
}

/// A run's state, with what is known in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// It waits for its first attempt, or for the next after this fault.
    Queued {
        /// Why the last attempt failed.
        fault: Option<RunFault>,
    },
    /// It is at work.
    Running {
        /// Since when.
        started_at: Timestamp,
    },
    /// It waits for a person's answer.
    WaitingApproval {
        /// When its first attempt began.
        started_at: Timestamp,
    },
    /// It did what it should.
    Succeeded(RunSpan),
    /// It did not.
    Failed(RunSpan, RunFault),
    /// The gate refused something.
    Blocked(RunSpan, RunFault),
}

/// From when to when a run was at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSpan {
    /// When the first attempt began.
    pub started_at: Timestamp,
    /// When the last one ended.
    pub finished_at: Timestamp,
}

impl RunState {
    /// The state without its data.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Queued { .. } => RunStatus::Queued,
            Self::Running { .. } => RunStatus::Running,
            Self::WaitingApproval { .. } => RunStatus::WaitingApproval,
            Self::Succeeded(_) => RunStatus::Succeeded,
            Self::Failed(..) => RunStatus::Failed,
            Self::Blocked(..) => RunStatus::Blocked,
        }
    }

    /// When it began, if it did.
    #[must_use]
    pub fn started_at(&self) -> Option<Timestamp> {
        match self {
            Self::Queued { .. } => None,
            Self::Running { started_at } | Self::WaitingApproval { started_at } => Some(*started_at),
            Self::Succeeded(span) | Self::Failed(span, _) | Self::Blocked(span, _) => Some(span.started_at),
        }
    }

    /// When it ended, if it did.
    #[must_use]
    pub fn finished_at(&self) -> Option<Timestamp> {
        match self {
            Self::Succeeded(span) | Self::Failed(span, _) | Self::Blocked(span, _) => Some(span.finished_at),
            Self::Queued { .. } | Self::Running { .. } | Self::WaitingApproval { .. } => None,
        }
    }

    /// What went wrong, if something did.
    #[must_use]
    pub fn fault(&self) -> Option<&RunFault> {
        match self {
            Self::Failed(_, fault) | Self::Blocked(_, fault) | Self::Queued { fault: Some(fault) } => {
                Some(fault)
            }
            _ => None,
        }
    }
}

/// The version a run ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRef {
    /// The version.
    pub id: VersionId,
    /// Its number.
    pub number: Option<u32>,
    /// Whether it is still the app's current one.
    pub is_current: bool,
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The run's id.
    pub id: RunId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// The app it runs.
    pub app: AppId,
    /// The app's name.
    pub app_name: String,
    /// The automation that started it.
    pub automation: Option<AutomationId>,
    /// The automation's name.
    pub automation_name: Option<String>,
    /// What kind of thing started it.
    pub trigger: TriggerKind,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// Where it stands.
    pub state: RunState,
    /// How many attempts were begun.
    pub attempt: u32,
    /// Minutes of a person's work it saved.
    pub minutes_saved: f64,
    /// What it runs or ran; known once it has begun.
    pub version: Option<VersionRef>,
    /// The run it repeats.
    pub replay_of: Option<RunId>,
    /// What it did; empty until an attempt has ended.
    pub steps: Vec<Step>,
}

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum StepStatus {
    /// It is still to come.
    Pending,
    /// It is at work.
    Running,
    /// It went well.
    Ok,
    /// It waits.
    Waiting,
    /// It failed.
    Failed,
    /// The gate refused it.
    Blocked,
    /// It was not needed.
    Skipped,
}

/// One thing a run did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What was done.
    pub label: String,
    /// How it went.
    pub status: StepStatus,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What else is known.
    pub detail: Option<String>,
}

/// How many refused calls of one invocation are told of.
const MAX_REFUSED_CALLS: usize = 5;

/// The calls among these steps that the gate refused, each once, the first few.
#[must_use]
pub fn refused_calls(steps: &[Step]) -> Vec<RefusedRequest> {
    let mut refused = Vec::new();
    for step in steps.iter().filter(|step| step.status == StepStatus::Blocked) {
        let call = RefusedRequest {
            request_line: step.label.clone(),
            code: step.detail.clone().unwrap_or_default(),
        };
        if refused.len() < MAX_REFUSED_CALLS && !refused.contains(&call) {
            refused.push(call);
        }
    }
    refused
}

/// Which runs of a workspace are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Only of this app.
    pub app: Option<AppId>,
    /// Only of this automation.
    pub automation: Option<AutomationId>,
    /// Only those that stand so.
    pub status: Option<RunStatus>,
    /// Only those started so.
    pub trigger: Option<TriggerKind>,
}

/// How a workspace's queue is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueHealth {
    /// How many runs wait and could begin.
    pub queued: u64,
    /// How many wait for a moment to come: put off, or to be tried again.
    pub delayed: u64,
    /// How many are at work.
    pub running: u64,
    /// How many wait for a person.
    pub waiting_approval: u64,
    /// Since when the oldest of those waits that could begin.
    pub oldest_queued_at: Option<Timestamp>,
    /// How many succeeded in the last hour.
    pub succeeded: u64,
    /// How many failed in the last hour.
    pub failed: u64,
    /// How many were blocked in the last hour.
    pub blocked: u64,
}
