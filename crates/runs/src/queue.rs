//! The durable queue: claiming, finishing and retrying accepted work.
//!
//! A run is accepted once and executed at least once: the node that claims it holds a lease, and if that node is lost,
//! another claims the run after the lease has expired.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Clock, Randomness, ShareId, StoreError, Timestamp,
    id::{AppId, ApprovalId, AutomationId, GrantId, NodeId, RunId, VersionId, WorkspaceId},
};
use serde_json::value::RawValue;

pub use crate::fault::RunFault;
use crate::{
    TriggerKind,
    approvals::ApprovalAnswer,
    engine::{ApprovalQuestion, Failure, LogLevel},
    runs::Step,
};

/// Duration of a lease. Its holder extends it while the run goes on.
pub const LEASE: TimeDelta = TimeDelta::seconds(30);

/// A run to be queued.
#[derive(Debug)]
pub struct NewRun {
    /// Id of the run.
    pub id: RunId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App to run.
    pub app: AppId,
    /// Automation that triggered it.
    pub automation: Option<AutomationId>,
    /// Kind of the trigger.
    pub trigger: TriggerKind,
    /// Input of the app.
    pub input: Box<RawValue>,
    /// Time at which it was accepted.
    pub at: Timestamp,
    /// Earliest start, if that is not the time at which it was accepted.
    pub scheduled_for: Option<Timestamp>,
    /// Most runs of the automation that execute at once; `None` for no limit.
    pub max_concurrency: Option<u16>,
    /// Version to run; by default the version that is current at the first claim.
    pub version: Option<VersionId>,
    /// Run that it replays.
    pub replay_of: Option<RunId>,
    /// True if a token or an agent started it.
    pub by_agent: bool,
    /// Grant of the agent that started it.
    pub agent: Option<GrantId>,
    /// True if it waits until the quota of its workspace has room.
    pub is_on_hold: bool,
}

/// Availability of a run's app when the run was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppAvailability {
    /// It may run.
    Ready,
    /// It was paused.
    Paused,
    /// It was deleted.
    Deleted,
}

/// A run whose lease the claiming node holds.
#[derive(Debug)]
pub struct ClaimedRun {
    /// Id of the run.
    pub id: RunId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// Share whose places it takes: that of the person who created the workspace.
    pub share: ShareId,
    /// App to run.
    pub app: AppId,
    /// Availability of that app.
    pub app_availability: AppAvailability,
    /// Automation that triggered it.
    pub automation: Option<AutomationId>,
    /// Version to run; `None` if the app no longer has one.
    pub version: Option<VersionId>,
    /// Kind of the trigger.
    pub trigger: TriggerKind,
    /// Input of the app.
    pub input: Box<RawValue>,
    /// Intended start: the time at which it was accepted, unless it was delayed or caught up.
    pub scheduled_for: Timestamp,
    /// Start of the first attempt.
    pub started_at: Timestamp,
    /// Number of this attempt, 1 for the first; a start with an answer counts as one.
    pub attempt: u32,
    /// Most retries.
    pub retries: u8,
    /// Cron expression of the schedule that triggered it.
    pub cron: Option<String>,
    /// Answers of people to its code, in the order of the questions.
    pub answers: Vec<ApprovalAnswer>,
}

impl ClaimedRun {
    /// Returns the number of this attempt, 1 for the first, without counting starts with an answer.
    #[must_use]
    pub fn effective_attempt(&self) -> u32 {
        self.attempt.saturating_sub(u32::try_from(self.answers.len()).unwrap_or(u32::MAX)).max(1)
    }
}

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The run succeeded.
    Succeeded,
    /// The run failed for good.
    Failed(RunFault),
    /// The gate refused a request, and the code did not catch that.
    Blocked(RunFault),
    /// The attempt failed and is retried.
    Retry {
        /// Earliest start of the next attempt.
        at: Timestamp,
        /// Fault of this attempt.
        fault: RunFault,
    },
    /// The code asked a person, and the run waits for the answer.
    Wait {
        /// Id of the question.
        approval: ApprovalId,
        /// Index of the question in the run, from 0.
        number: u32,
        /// Title and detail.
        question: ApprovalQuestion,
    },
}

impl AttemptOutcome {
    /// Returns true if the run has ended.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Retry { .. } | Self::Wait { .. })
    }
}

/// An attempt that has ended.
#[derive(Debug)]
pub struct FinishedRun {
    /// Id of the run.
    pub id: RunId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App that ran.
    pub app: AppId,
    /// Automation that triggered it.
    pub automation: Option<AutomationId>,
    /// Number of the attempt, so that a holder whose lease has expired changes nothing.
    pub attempt: u32,
    /// End of the attempt.
    pub at: Timestamp,
    /// Start of the first attempt.
    pub started_at: Timestamp,
    /// Outcome of the attempt.
    pub outcome: AttemptOutcome,
    /// Minutes of a person's work that it saved.
    pub minutes_saved: f64,
    /// Value that the code returned, if it is kept.
    pub result: Option<Box<RawValue>>,
    /// Steps of the attempt.
    pub steps: Vec<Step>,
    /// Log lines of the attempt.
    pub lines: Vec<RunLogLine>,
}

/// A log line of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLogLine {
    /// Time of the line.
    pub at: Timestamp,
    /// Severity.
    pub level: LogLevel,
    /// True if the gate wrote it, and false if the app's code did.
    pub is_from_gate: bool,
    /// Text of the line.
    pub message: String,
}

/// Returns the outcome of an attempt that failed.
///
/// Only failures that may pass are retried: neither a refusal by the gate nor code that does not compile.
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

/// Returns the delay of a retry: 1, 4, 16, 64, 256 seconds after the first, second, … attempt, and at random up to half
/// as much again.
fn backoff(attempt: u32, random: &dyn Randomness) -> TimeDelta {
    let base = 1000 * 4_u32.pow(attempt.saturating_sub(1).min(5));
    TimeDelta::milliseconds(i64::from(base + random.below(base / 2)))
}

/// Most runs that a claim takes, in total and of each share.
#[derive(Debug, Clone)]
pub struct ClaimLimit {
    total: u32,
    /// Limit of shares without an entry in `per_share`.
    default_per_share: u32,
    per_share: Arc<HashMap<ShareId, u32>>,
}

impl ClaimLimit {
    /// Creates a limit without shares: all runs may be of one.
    #[must_use]
    pub fn with_total(total: u32) -> Self {
        Self::with_shares(total, total, HashMap::new())
    }

    /// Creates a limit for each share in `per_share`, and a common one for each of the others.
    #[must_use]
    pub fn with_shares(total: u32, default_per_share: u32, per_share: HashMap<ShareId, u32>) -> Self {
        Self { total, default_per_share, per_share: Arc::new(per_share) }
    }

    /// Returns the limit in total.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns the limit of a share.
    #[must_use]
    pub fn for_share(&self, share: ShareId) -> u32 {
        self.per_share.get(&share).copied().unwrap_or(self.default_per_share).min(self.total)
    }

    /// Returns the limit that is left once so many runs are taken.
    #[must_use]
    pub fn reduced_by(&self, taken: u32) -> Self {
        Self { total: self.total.saturating_sub(taken), ..self.clone() }
    }

    /// Returns the shares of which no run may be taken.
    pub fn exhausted_shares(&self) -> impl Iterator<Item = ShareId> {
        self.per_share.iter().filter(|(_, most)| **most == 0).map(|(share, _)| *share)
    }
}

/// The slots of a node that calls may take as they are accepted: a run that waits for nobody need not be queued, found and
/// read again.
pub trait RunSlots: Send + Sync {
    /// Returns the node that executes the runs.
    fn node(&self) -> NodeId;

    /// Returns the clock that the runs start by.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Returns how many runs the node can take now; `None` if it takes none.
    fn limit(&self) -> Option<ClaimLimit>;

    /// Reserves a slot, if the share may have one more.
    fn reserve(&self, share: ShareId) -> Option<Box<dyn RunSlot>>;
}

/// A slot that is reserved until it is dropped.
pub trait RunSlot: Send + Sync {
    /// Starts a run that the node holds until `lease_until`. Must be called on a tokio runtime.
    fn start(self: Box<Self>, run: ClaimedRun, lease_until: Timestamp);
}

/// The queue as workers see it.
#[async_trait]
pub trait RunQueue: Send + Sync {
    /// Claims due runs, oldest first and within `limit`, with a [`LEASE`] from now. Their start is the time of the
    /// claim as `clock` tells it then, because a claim may wait behind the end of the run that makes room for it.
    async fn claim(
        &self,
        node: NodeId,
        limit: ClaimLimit,
        clock: Arc<dyn Clock>,
    ) -> Result<Vec<ClaimedRun>, StoreError>;

    /// Offers the slots of a node to the calls that this process accepts, in place of those that were offered before; `None`
    /// offers none. They are given out only while nothing that is due waits in the queue.
    fn offer_slots(&self, slots: Option<Arc<dyn RunSlots>>);

    /// Extends leases by another [`LEASE`] from `now`. Returns the runs that the node still holds.
    async fn extend_leases(
        &self,
        node: NodeId,
        runs: &[RunId],
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError>;

    /// Returns those of `runs` that the node still holds.
    async fn held_runs(&self, node: NodeId, runs: &[RunId]) -> Result<Vec<RunId>, StoreError>;

    /// Waits until this process has taken runs from the nodes that execute them, such as for a person who cancels one, or
    /// for `at_most`.
    async fn wait_for_lost_runs(&self, at_most: Duration);

    /// Records the end of an attempt, durably before it returns. Returns false, and writes nothing, if the node no
    /// longer holds the run.
    async fn finish(&self, node: NodeId, finished: FinishedRun) -> Result<bool, StoreError>;

    /// Returns runs to the queue unexecuted, such as when the server stops.
    async fn release(&self, node: NodeId, runs: &[RunId]) -> Result<(), StoreError>;

    /// Makes runs with an expired lease claimable again, and returns their number.
    async fn release_expired_leases(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Waits until a run is queued, or for `at_most`.
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
    fn a_failure_is_retried_until_the_retries_are_used_up() {
        let now = Timestamp::UNIX_EPOCH;
        let random = SeededRandomness::new(1);
        let classify =
            |attempt, retries, code| classify_failure(&failure(code), false, attempt, retries, now, &random);
        for (attempt, least) in [(1, 1), (2, 4), (3, 16), (4, 64), (5, 256)] {
            let AttemptOutcome::Retry { at, .. } = classify(attempt, 5, FailureCode::AppError) else {
                panic!("attempt {attempt} was not retried")
            };
            let wait = (at - now).num_milliseconds();
            assert!((least * 1000..least * 1500).contains(&wait), "attempt {attempt} waits {wait} ms");
        }
        assert!(matches!(classify(6, 5, FailureCode::AppError), AttemptOutcome::Failed(_)));
        assert!(matches!(classify(1, 0, FailureCode::Timeout), AttemptOutcome::Failed(_)));
        assert!(matches!(classify(1, 5, FailureCode::InvalidBundle), AttemptOutcome::Failed(_)));
    }

    #[test]
    fn a_refusal_by_the_gate_blocks() {
        let failure =
            Failure { host_code: Some("private_address".to_owned()), ..failure(FailureCode::AppError) };
        let outcome =
            classify_failure(&failure, true, 1, 5, Timestamp::UNIX_EPOCH, &SeededRandomness::new(1));
        let fault = RunFault { code: "private_address".to_owned(), message: "no".to_owned() };
        assert_eq!(outcome, AttemptOutcome::Blocked(fault));
    }
}
