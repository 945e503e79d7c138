//! Occurrences of a schedule: policies, decisions and results.

use kernel::{
    Timestamp,
    id::{OccurrenceId, RunId},
};
use serde::{Deserialize, Serialize};

pub use crate::ports::OccurrencesRead;
use crate::queue::NewRun;

/// Longest window in which missed occurrences are caught up, in minutes: 30 days.
pub const MAX_WINDOW_MINUTES: u32 = 30 * 24 * 60;

/// Policy for missed occurrences, such as those while no server ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CatchUp {
    /// No run.
    None,
    /// One run for all of them.
    #[default]
    Last,
    /// A run for each, the last 100 at most.
    All,
}

kernel::names! {
    CatchUp {
        None = "none",
        Last = "last",
        All = "all",
    }
}

/// Policy for an occurrence that comes while an earlier run of the automation is queued or executing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// It starts a run anyway.
    #[default]
    Allow,
    /// It starts no run.
    Skip,
}

kernel::names! {
    Overlap {
        Allow = "allow",
        Skip = "skip",
    }
}

/// Policy of a schedule for missed occurrences and overlapping runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulePolicy {
    /// Policy for missed occurrences.
    pub catch_up: CatchUp,
    /// Age up to which a missed occurrence is caught up, in minutes; 1 to [`MAX_WINDOW_MINUTES`].
    pub window_minutes: u32,
    /// Policy for overlapping runs.
    pub overlap: Overlap,
}

impl Default for SchedulePolicy {
    fn default() -> Self {
        Self { catch_up: CatchUp::default(), window_minutes: 7 * 24 * 60, overlap: Overlap::default() }
    }
}

/// Reason why an occurrence started no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It was missed, and missed occurrences are not caught up.
    Missed,
    /// A later occurrence started a run in its place.
    Superseded,
    /// It was older than the window.
    TooOld,
    /// More were missed than are caught up.
    TooMany,
    /// An earlier run had not ended.
    Overlap,
    /// The app had no version to run, or was paused.
    NotRunnable,
    /// The runs of the month were used up.
    QuotaReached,
}

kernel::names! {
    SkipReason {
        Missed = "missed",
        Superseded = "superseded",
        TooOld = "too_old",
        TooMany = "too_many",
        Overlap = "overlap",
        NotRunnable = "not_runnable",
        QuotaReached = "quota_reached",
    }
}

/// Decision about an occurrence that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OccurrenceDecision {
    /// It starts a run on time.
    Run,
    /// It starts a run late.
    CatchUp,
    /// It starts no run.
    Skip(SkipReason),
}

/// Occurrences that have passed, with a decision about each, and the occurrence after them, which may have passed too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueOccurrences {
    /// Time and decision of each occurrence, oldest first.
    pub occurrences: Vec<(Timestamp, OccurrenceDecision)>,
    /// Next occurrence; `None` when there is none.
    pub next: Option<Timestamp>,
}

/// An occurrence to be recorded.
#[derive(Debug)]
pub struct NewOccurrence {
    /// Id, which sorts by `due_at`.
    pub id: OccurrenceId,
    /// Time of the occurrence.
    pub due_at: Timestamp,
    /// Planned result.
    pub plan: OccurrencePlan,
}

/// Planned result of an occurrence. The store may still find that a run cannot start.
#[derive(Debug)]
pub enum OccurrencePlan {
    /// Start a run.
    Start {
        /// Run to queue.
        run: Box<NewRun>,
        /// True if the occurrence was missed.
        is_late: bool,
    },
    /// Start no run.
    Skip(SkipReason),
}

/// Result of an occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OccurrenceResult {
    /// It started this run on time.
    Ran(RunId),
    /// It started this run late.
    CaughtUp(RunId),
    /// It started no run, for this reason, as [`SkipReason`] names it.
    Skipped(String),
}

/// A recorded occurrence of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Id of the occurrence.
    pub id: OccurrenceId,
    /// Time of the occurrence.
    pub due_at: Timestamp,
    /// Run, or the reason why there is none.
    pub outcome: OccurrenceResult,
    /// Time of the decision.
    pub recorded_at: Timestamp,
}
