//! The durable queue: how accepted work is claimed, finished and tried again.
//!
//! A run is accepted once and delivered at least once: whoever claims it holds a lease, and when the holder is
//! lost, another claims it after the lease has ended.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Clock, Randomness, StoreError, Timestamp,
    id::{AppId, ApprovalId, AutomationId, NodeId, RunId, VersionId, WorkspaceId},
};
use serde_json::value::RawValue;

use crate::{
    TriggerKind,
    approvals::ApprovalAnswer,
    engine::{ApprovalQuestion, Failure, LogLevel},
    runs::Step,
};

/// How long a claimed run is its holder's; the holder extends it while the run goes on.
pub const LEASE: TimeDelta = TimeDelta::seconds(30);

/// A run on its way into the queue.
#[derive(Debug)]
pub struct NewRun {
    /// The run.
    pub id: RunId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// The app it runs.
    pub app: AppId,
    /// What started it.
    pub automation: Option<AutomationId>,
    /// What kind of thing started it.
    pub trigger: TriggerKind,
    /// What the app is given.
    pub input: Box<RawValue>,
    /// When it was accepted.
    pub at: Timestamp,
    /// When it is meant to start, if that is not when it was accepted; it never starts before.
    pub scheduled_for: Option<Timestamp>,
    /// How many runs of the automation may be at work at once.
    pub max_concurrency: Option<u16>,
    /// The version to run; the current one of the first claim when not said.
    pub version: Option<VersionId>,
    /// The run it repeats.
    pub replay_of: Option<RunId>,
    /// Whether a token or an agent asked for it.
    pub by_agent: bool,
    /// Whether the workspace's spending cap holds it back until it is let go.
    pub is_on_hold: bool,
}

/// What says whether a workspace has spent so much that replays and agents' runs wait.
#[async_trait]
pub trait SpendingCap: Send + Sync {
    /// Whether such runs are held back now.
    async fn is_reached(&self, workspace: WorkspaceId) -> Result<bool, StoreError>;
}

/// No cap at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSpendingCap;

#[async_trait]
impl SpendingCap for NoSpendingCap {
    async fn is_reached(&self, _workspace: WorkspaceId) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// How a run's app stood when the run was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppAvailability {
    /// It may run.
    Ready,
    /// Its owner paused it.
    Paused,
    /// It was deleted.
    Deleted,
}

/// A run that is now the claimer's.
#[derive(Debug)]
pub struct ClaimedRun {
    /// The run.
    pub id: RunId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// The app it runs.
    pub app: AppId,
    /// Whether that app may run.
    pub app_availability: AppAvailability,
    /// What started it.
    pub automation: Option<AutomationId>,
    /// The version to run; none when the app has none any more.
    pub version: Option<VersionId>,
    /// What kind of thing started it.
    pub trigger: TriggerKind,
    /// What the app is given.
    pub input: Box<RawValue>,
    /// When it was meant to start: when it was accepted, unless it was put off or caught up.
    pub scheduled_for: Timestamp,
    /// When it began; of the first attempt.
    pub started_at: Timestamp,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// How often it may be tried again.
    pub retries: u8,
    /// The schedule that started it.
    pub cron: Option<String>,
    /// What people have answered to its code, the first question's answer first.
    pub answers: Vec<ApprovalAnswer>,
}

impl ClaimedRun {
    /// Which attempt it is, 1 for the first. Being begun again with an answer is none.
    #[must_use]
    pub fn effective_attempt(&self) -> u32 {
        self.attempt.saturating_sub(u32::try_from(self.answers.len()).unwrap_or(u32::MAX)).max(1)
    }
}

/// Why a run came to no good end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFault {
    /// Stable, for programs.
    pub code: String,
    /// For people, at most 2,000 characters.
    pub message: String,
}

/// What becomes of a run after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It did what it should.
    Succeeded,
    /// It failed for good.
    Failed(RunFault),
    /// The gate refused something that its code did not catch.
    Blocked(RunFault),
    /// It failed and is tried again.
    Retry {
        /// When.
        at: Timestamp,
        /// Why this attempt failed.
        fault: RunFault,
    },
    /// Its code asked a person, and it waits for the answer.
    Wait {
        /// The question's id.
        approval: ApprovalId,
        /// 0 for the run's first question.
        number: u32,
        /// What is asked.
        question: ApprovalQuestion,
    },
}

impl AttemptOutcome {
    /// Whether the run has come to its end.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Retry { .. } | Self::Wait { .. })
    }
}

/// An attempt that came to its end.
#[derive(Debug)]
pub struct FinishedRun {
    /// The run.
    pub id: RunId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// The app it ran.
    pub app: AppId,
    /// What started it.
    pub automation: Option<AutomationId>,
    /// The attempt, so that a holder whose lease had ended changes nothing.
    pub attempt: u32,
    /// When it ended.
    pub at: Timestamp,
    /// When the first attempt began.
    pub started_at: Timestamp,
    /// What becomes of it.
    pub outcome: AttemptOutcome,
    /// Minutes of a person's work it saved.
    pub minutes_saved: f64,
    /// What it did.
    pub steps: Vec<Step>,
    /// What its code said.
    pub lines: Vec<RunLogLine>,
}

/// A line of log of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLogLine {
    /// When it was said.
    pub at: Timestamp,
    /// How loud it is.
    pub level: LogLevel,
    /// Whether the gate says it, and not the app's code.
    pub is_from_gate: bool,
    /// What is said.
    pub message: String,
}

/// Decides what becomes of a run after an attempt that failed.
///
/// A refusal by the gate is no accident that a second try mends, nor is code that does not compile.
#[must_use]
pub fn classify_failure(
    failure: &Failure,
    refused_by_gate: bool,
    attempt: u32,
    retries: u8,
    now: Timestamp,
    random: &dyn Randomness,
) -> AttemptOutcome {
    use crate::engine::FailureCode::{HandlerMissing, InvalidBundle};
    if refused_by_gate {
        let code = failure.host_code.clone().unwrap_or_else(|| "egress_denied".to_owned());
        return AttemptOutcome::Blocked(RunFault { code, message: failure.message.clone() });
    }
    let fault = RunFault { code: failure.code.as_str().to_owned(), message: failure.message.clone() };
    let is_permanent = matches!(failure.code, HandlerMissing | InvalidBundle);
    if is_permanent || attempt > u32::from(retries) {
        AttemptOutcome::Failed(fault)
    } else {
        AttemptOutcome::Retry { at: now + backoff(attempt, random), fault }
    }
}

/// 1, 4, 16, 64, 256 seconds after the first, second, … attempt, and up to half as much again at random.
fn backoff(attempt: u32, random: &dyn Randomness) -> TimeDelta {
    let base = 1000 * 4_u32.pow(attempt.saturating_sub(1).min(5));
    TimeDelta::milliseconds(i64::from(base + random.below(base / 2)))
}

/// How many runs a claim takes at most, in all and of each workspace.
#[derive(Debug, Clone)]
pub struct ClaimLimit {
    total: u32,
    /// Of workspaces that are not named.
    default_per_workspace: u32,
    per_workspace: Arc<HashMap<WorkspaceId, u32>>,
}

impl ClaimLimit {
    /// Runs of any workspace, however many of them are one's.
    #[must_use]
    pub fn with_total(in_all: u32) -> Self {
        Self::with_shares(in_all, in_all, HashMap::new())
    }

    /// As many, at most so many of each workspace.
    #[must_use]
    pub fn with_shares(in_all: u32, of_others: u32, of: HashMap<WorkspaceId, u32>) -> Self {
        Self { total: in_all, default_per_workspace: of_others, per_workspace: Arc::new(of) }
    }

    /// At most so many in all.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// At most so many of a workspace.
    #[must_use]
    pub fn for_workspace(&self, workspace: WorkspaceId) -> u32 {
        self.per_workspace.get(&workspace).copied().unwrap_or(self.default_per_workspace).min(self.total)
    }

    /// The workspaces of which none may be taken.
    pub fn exhausted_workspaces(&self) -> impl Iterator<Item = WorkspaceId> {
        self.per_workspace.iter().filter(|(_, most)| **most == 0).map(|(workspace, _)| *workspace)
    }
}

/// The queue, as those who work it off see it.
#[async_trait]
pub trait RunQueue: Send + Sync {
    /// Takes runs that are due, oldest first and within `limit`, until [`LEASE`] from now. They start at the moment at which
    /// they are taken, which `clock` tells: a claim may wait behind the end that makes room for it.
    async fn claim(
        &self,
        node: NodeId,
        limit: ClaimLimit,
        clock: Arc<dyn Clock>,
    ) -> Result<Vec<ClaimedRun>, StoreError>;

    /// Keeps runs for another [`LEASE`]; gives back those that are still the node's.
    async fn extend_leases(
        &self,
        node: NodeId,
        runs: &[RunId],
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError>;

    /// Writes the end of an attempt, durably before it answers. Whether the run was still the node's; when it was
    /// not, nothing is written.
    async fn finish(&self, node: NodeId, finished: FinishedRun) -> Result<bool, StoreError>;

    /// Hands runs back untried, as when the server stops.
    async fn release(&self, node: NodeId, runs: &[RunId]) -> Result<(), StoreError>;

    /// Makes runs claimable again whose lease has ended; how many.
    async fn release_expired_leases(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Waits until something was put into the queue, or `at_most` so long.
    async fn wait_for_work(&self, at_most: Duration);
}

#[cfg(test)]
mod tests {
    use kernel::SeededRandomness;

    use super::*;
    use crate::engine::FailureCode;

    fn failure(code: FailureCode) -> Failure {
        Failure { code, message: "no".to_owned(), host_code: None }
    }

    #[test]
    fn a_failure_is_tried_again_until_the_retries_are_used_up() {
        let now = Timestamp::UNIX_EPOCH;
        let random = SeededRandomness::new(1);
        let conclude =
            |attempt, retries, code| classify_failure(&failure(code), false, attempt, retries, now, &random);
        for (attempt, least) in [(1, 1), (2, 4), (3, 16), (4, 64), (5, 256)] {
            let AttemptOutcome::Retry { at, .. } = conclude(attempt, 5, FailureCode::AppError) else {
                panic!("attempt {attempt} was not tried again")
            };
            let wait = (at - now).num_milliseconds();
            assert!((least * 1000..least * 1500).contains(&wait), "attempt {attempt} waits {wait} ms");
        }
        assert!(matches!(conclude(6, 5, FailureCode::AppError), AttemptOutcome::Failed(_)));
        assert!(matches!(conclude(1, 0, FailureCode::Timeout), AttemptOutcome::Failed(_)));
        assert!(matches!(conclude(1, 5, FailureCode::InvalidBundle), AttemptOutcome::Failed(_)));
    }

    #[test]
    fn a_refusal_by_the_gate_blocks() {
        let failure =
            Failure { host_code: Some("private_address".to_owned()), ..failure(FailureCode::AppError) };
        let conclusion =
            classify_failure(&failure, true, 1, 5, Timestamp::UNIX_EPOCH, &SeededRandomness::new(1));
        let fault = RunFault { code: "private_address".to_owned(), message: "no".to_owned() };
        assert_eq!(conclusion, AttemptOutcome::Blocked(fault));
    }
}
