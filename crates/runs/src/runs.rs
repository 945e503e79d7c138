//! Runs: states and results of accepted work (specification part B, "Run").

mod cancel;

use kernel::{
    Timestamp,
    events::RefusedRequest,
    id::{AppId, AutomationId, GrantId, RunId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::{TriggerKind, fault::RunFault};

pub use cancel::cancel_run;

/// Status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It waits in the queue.
    Queued,
    /// It executes.
    Running,
    /// It waits for the answer of a person.
    WaitingApproval,
    /// Its code finished without an error.
    Succeeded,
    /// It failed for good.
    Failed,
    /// The gate refused a request, and its code did not catch that.
    Blocked,
}

kernel::names! {
    RunStatus {
        Queued = "queued",
        Running = "running",
        WaitingApproval = "waiting_approval",
        Succeeded = "succeeded",
        Failed = "failed",
        Blocked = "blocked",
    }
}

/// State of a run, with its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// It waits in the queue for its first attempt, or for the next after a fault.
    Queued {
        /// Fault of the previous attempt.
        fault: Option<RunFault>,
    },
    /// It executes.
    Running {
        /// Start of the first attempt.
        started_at: Timestamp,
    },
    /// It waits for the answer of a person.
    WaitingApproval {
        /// Start of the first attempt.
        started_at: Timestamp,
    },
    /// Its code finished without an error.
    Succeeded(RunSpan),
    /// It failed for good.
    Failed(RunSpan, RunFault),
    /// The gate refused a request, and its code did not catch that.
    Blocked(RunSpan, RunFault),
}

/// Start and end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSpan {
    /// Start of the first attempt.
    pub started_at: Timestamp,
    /// End of the last attempt.
    pub finished_at: Timestamp,
}

impl RunState {
    /// Returns the status without the data.
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

    /// Returns the start of the first attempt, if there was one.
    #[must_use]
    pub fn started_at(&self) -> Option<Timestamp> {
        match self {
            Self::Queued { .. } => None,
            Self::Running { started_at } | Self::WaitingApproval { started_at } => Some(*started_at),
            Self::Succeeded(span) | Self::Failed(span, _) | Self::Blocked(span, _) => Some(span.started_at),
        }
    }

    /// Returns the end of the run, if it has ended.
    #[must_use]
    pub fn finished_at(&self) -> Option<Timestamp> {
        match self {
            Self::Succeeded(span) | Self::Failed(span, _) | Self::Blocked(span, _) => Some(span.finished_at),
            Self::Queued { .. } | Self::Running { .. } | Self::WaitingApproval { .. } => None,
        }
    }

    /// Returns the fault of the run, or of its previous attempt if it waits for a retry.
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

/// Version of an app, as a run refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRef {
    /// Id of the version.
    pub id: VersionId,
    /// Number of the version, if it is known.
    pub number: Option<u32>,
    /// True if it is the current version of the app.
    pub is_current: bool,
}

/// The agent that started a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskingAgent {
    /// Grant of its person.
    pub grant: GrantId,
    /// Name of its client, while the grant is kept.
    pub client_name: Option<String>,
}

/// One execution of an app's code, over all its attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Id of the run.
    pub id: RunId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App that it runs.
    pub app: AppId,
    /// Name of the app.
    pub app_name: String,
    /// Automation that triggered it.
    pub automation: Option<AutomationId>,
    /// Name of the automation.
    pub automation_name: Option<String>,
    /// Kind of the trigger.
    pub trigger: TriggerKind,
    /// Time at which it was accepted.
    pub accepted_at: Timestamp,
    /// State, with its data.
    pub state: RunState,
    /// Number of attempts that were started.
    pub attempt: u32,
    /// Minutes of a person's work that it saved.
    pub minutes_saved: f64,
    /// Version that it runs or ran; known once it has started.
    pub version: Option<VersionRef>,
    /// Run that it replays.
    pub replay_of: Option<RunId>,
    /// Agent that started it.
    pub asked_by: Option<AskingAgent>,
    /// Person who cancelled it.
    pub cancelled_by: Option<UserId>,
    /// Steps of the last attempt that ended; empty before the first has.
    pub steps: Vec<Step>,
}

/// Error code of runs that a person cancelled.
pub const CANCELLED: &str = "cancelled";

/// Most bytes of a kept result of a run, as JSON: 64 KiB.
pub const MAX_RESULT_BYTES: usize = 64 << 10;

/// Detail of a run's first step when its code returned more than is kept.
pub const RESULT_TOO_LARGE: &str = "result_too_large";

/// The end of a run that a person cancels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancellation {
    /// Workspace of the run.
    pub workspace: WorkspaceId,
    /// Run to end.
    pub run: RunId,
    /// End of the run.
    pub at: Timestamp,
    /// Person who cancels it.
    pub by: UserId,
}

/// Status of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// It has not started.
    Pending,
    /// It executes.
    Running,
    /// It succeeded.
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

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Action, such as the method and URL of a request.
    pub label: String,
    /// Status of the step.
    pub status: StepStatus,
    /// Start of the step.
    pub started_at: Option<Timestamp>,
    /// Duration, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Further detail, such as the code of a refusal.
    pub detail: Option<String>,
}

/// Most refused calls of one invocation that are reported.
const MAX_REFUSED_CALLS: usize = 5;

/// Returns the first five distinct calls among these steps that the gate refused.
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

/// Filter of runs of a workspace. Each condition narrows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Only of this app.
    pub app: Option<AppId>,
    /// Only of this automation.
    pub automation: Option<AutomationId>,
    /// Only with this status.
    pub status: Option<RunStatus>,
    /// Only of this trigger.
    pub trigger: Option<TriggerKind>,
    /// Only those that an agent asked for, or that none did.
    pub by_agent: Option<bool>,
    /// Only those that were replayed, or that were not.
    pub replayed: Option<bool>,
    /// Only those that were accepted at this time or later.
    pub from: Option<Timestamp>,
    /// Only those that were accepted before this time.
    pub to: Option<Timestamp>,
}

/// Runs by the time at which they were accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHistogram {
    /// Time from which the counts are complete; earlier runs were not counted.
    pub complete_from: Timestamp,
    /// Bars with at least one run, oldest first.
    pub bars: Vec<RunBar>,
}

/// Runs of one bar of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunBar {
    /// Number of the bar: its start in units of its length since 1970.
    pub index: i64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that a gate or right stopped.
    pub blocked: u64,
    /// Runs that have not ended.
    pub unfinished: u64,
}

/// A run among the latest of its automation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestRun {
    /// Run id.
    pub id: RunId,
    /// State of the run.
    pub status: RunStatus,
    /// Time at which the run was accepted.
    pub accepted_at: Timestamp,
}

/// State of a workspace's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueHealth {
    /// Number of queued runs that could start.
    pub queued: u64,
    /// Number of queued runs with a later start: delayed, or to be retried.
    pub delayed: u64,
    /// Number of runs that execute.
    pub running: u64,
    /// Number of runs that wait for the answer of a person.
    pub waiting_approval: u64,
    /// Time since which the oldest of the `queued` runs waits.
    pub oldest_queued_at: Option<Timestamp>,
    /// Number of runs that succeeded in the last hour.
    pub succeeded: u64,
    /// Number of runs that failed in the last hour.
    pub failed: u64,
    /// Number of runs that were blocked in the last hour.
    pub blocked: u64,
}
