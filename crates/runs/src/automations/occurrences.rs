//! Occurrences of a schedule: which of those that have passed start a run, and the result of each.

use std::{fmt, str::FromStr};

use chrono::TimeDelta;
use kernel::{
    Problem, Timestamp,
    id::{OccurrenceId, RunId},
};
use serde::{Deserialize, Serialize};

use super::schedule::Schedule;
pub use crate::ports::OccurrencesRead;
use crate::queue::NewRun;

/// Longest window in which missed occurrences are caught up, in minutes: 30 days.
pub const MAX_WINDOW_MINUTES: u32 = 30 * 24 * 60;
/// Delay up to which an occurrence is on time.
const ON_TIME_TOLERANCE: TimeDelta = TimeDelta::seconds(60);
/// Age beyond which occurrences are not examined one by one.
const MAX_LOOKBACK: TimeDelta = TimeDelta::days(31);
/// Most missed occurrences that are caught up.
const MAX_CAUGHT_UP: usize = 100;
/// Most occurrences that one transaction handles.
const MAX_BATCH: usize = 500;

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

impl CatchUp {
    /// Returns the name on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Last => "last",
            Self::All => "all",
        }
    }
}

impl FromStr for CatchUp {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::None, Self::Last, Self::All]
            .into_iter()
            .find(|policy| policy.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("catchUp", "must be none, last or all"))
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

impl Overlap {
    /// Returns the name on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Skip => "skip",
        }
    }
}

impl FromStr for Overlap {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Allow, Self::Skip]
            .into_iter()
            .find(|policy| policy.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("overlap", "must be allow or skip"))
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

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missed => "missed",
            Self::Superseded => "superseded",
            Self::TooOld => "too_old",
            Self::TooMany => "too_many",
            Self::Overlap => "overlap",
            Self::NotRunnable => "not_runnable",
            Self::QuotaReached => "quota_reached",
        })
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

impl Schedule {
    /// Decides about the occurrences from `due` to `now`. At most 500 are returned; the next call has the rest.
    #[must_use]
    pub fn due_occurrences(&self, due: Timestamp, now: Timestamp) -> DueOccurrences {
        let mut occurrences = vec![(due, OccurrenceDecision::Skip(SkipReason::TooOld))];
        let mut next = self.next_after(due.max(now - MAX_LOOKBACK));
        while let Some(time) = next.filter(|time| *time <= now) {
            occurrences.push((time, OccurrenceDecision::Skip(SkipReason::TooOld)));
            next = self.next_after(time);
        }
        self.apply_policy(&mut occurrences, now);
        let next = occurrences.get(MAX_BATCH).map(|(time, _)| *time).or(next);
        occurrences.truncate(MAX_BATCH);
        DueOccurrences { occurrences, next }
    }

    fn apply_policy(&self, occurrences: &mut [(Timestamp, OccurrenceDecision)], now: Timestamp) {
        let policy = self.policy();
        let on_time = occurrences.last().is_some_and(|(last, _)| now - *last <= ON_TIME_TOLERANCE);
        let missed_count = occurrences.len() - usize::from(on_time);
        let window = TimeDelta::minutes(policy.window_minutes.into());
        for (index, (time, decision)) in occurrences.iter_mut().enumerate() {
            let from_end = missed_count.saturating_sub(index + 1);
            *decision = match policy.catch_up {
                _ if index >= missed_count => OccurrenceDecision::Run,
                CatchUp::None => OccurrenceDecision::Skip(SkipReason::Missed),
                _ if now - *time > window => OccurrenceDecision::Skip(SkipReason::TooOld),
                CatchUp::Last if on_time || from_end > 0 => OccurrenceDecision::Skip(SkipReason::Superseded),
                CatchUp::All if from_end >= MAX_CAUGHT_UP => OccurrenceDecision::Skip(SkipReason::TooMany),
                CatchUp::Last | CatchUp::All => OccurrenceDecision::CatchUp,
            };
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn hourly(catch_up: CatchUp, window_minutes: u32) -> Schedule {
        let policy = SchedulePolicy { catch_up, window_minutes, ..SchedulePolicy::default() };
        Schedule::parse("0 * * * *", None).unwrap().with_policy(policy).unwrap()
    }

    fn decisions(schedule: &Schedule, due: &str, now: &str) -> Vec<OccurrenceDecision> {
        schedule
            .due_occurrences(at(due), at(now))
            .occurrences
            .into_iter()
            .map(|(_, decision)| decision)
            .collect()
    }

    #[test]
    fn an_occurrence_noticed_within_a_minute_is_on_time() {
        for policy in [CatchUp::None, CatchUp::Last, CatchUp::All] {
            let schedule = hourly(policy, 60);
            let passed = schedule.due_occurrences(at("2026-11-21T09:00:00Z"), at("2026-11-21T09:01:00Z"));
            assert_eq!(passed.occurrences, [(at("2026-11-21T09:00:00Z"), OccurrenceDecision::Run)]);
            assert_eq!(passed.next, Some(at("2026-11-21T10:00:00Z")));
        }
    }

    #[test]
    fn missed_occurrences_are_handled_as_the_policy_says() {
        use OccurrenceDecision::{CatchUp as Late, Run, Skip};
        use SkipReason::{Missed, Superseded, TooOld};
        let (due, later, on_time) = ("2026-11-21T06:00:00Z", "2026-11-21T09:30:00Z", "2026-11-21T09:00:30Z");
        let check = |policy, window, now, expected: [OccurrenceDecision; 4]| {
            assert_eq!(decisions(&hourly(policy, window), due, now), expected, "{policy:?} {now}");
        };
        check(CatchUp::None, 600, later, [Skip(Missed); 4]);
        check(CatchUp::None, 600, on_time, [Skip(Missed), Skip(Missed), Skip(Missed), Run]);
        check(CatchUp::Last, 600, later, [Skip(Superseded), Skip(Superseded), Skip(Superseded), Late]);
        check(CatchUp::Last, 600, on_time, [Skip(Superseded), Skip(Superseded), Skip(Superseded), Run]);
        check(CatchUp::Last, 20, later, [Skip(TooOld); 4]);
        check(CatchUp::All, 600, later, [Late; 4]);
        check(CatchUp::All, 100, later, [Skip(TooOld), Skip(TooOld), Late, Late]);
        check(CatchUp::All, 600, on_time, [Late, Late, Late, Run]);
    }

    #[test]
    fn a_long_outage_starts_no_flood() {
        let policy = SchedulePolicy {
            catch_up: CatchUp::All,
            window_minutes: MAX_WINDOW_MINUTES,
            ..SchedulePolicy::default()
        };
        let schedule = Schedule::parse("*/30 * * * *", None).unwrap().with_policy(policy).unwrap();
        let now = at("2026-11-21T09:30:30Z");
        // Two years: the first occurrence, and those of the last 31 days, 500 at a time.
        let (mut due, mut pieces, mut seen, mut runs) = (at("2024-11-21T00:00:00Z"), 0, 0, 0);
        loop {
            let passed = schedule.due_occurrences(due, now);
            assert!(passed.occurrences.len() <= MAX_BATCH);
            pieces += 1;
            seen += passed.occurrences.len();
            runs += passed
                .occurrences
                .iter()
                .filter(|(_, decision)| !matches!(decision, OccurrenceDecision::Skip(_)))
                .count();
            due = passed.next.unwrap();
            if due > now {
                break;
            }
        }
        assert_eq!((runs, seen, pieces), (MAX_CAUGHT_UP + 1, 31 * 48 + 1, 3));
        assert_eq!(due, at("2026-11-21T10:00:00Z"));
    }

    #[test]
    fn a_window_has_bounds() {
        let with = |window_minutes| {
            let policy = SchedulePolicy { window_minutes, ..SchedulePolicy::default() };
            Schedule::parse("0 * * * *", None).unwrap().with_policy(policy).is_ok()
        };
        assert!(with(1) && with(MAX_WINDOW_MINUTES));
        assert!(!with(0) && !with(MAX_WINDOW_MINUTES + 1));
    }
}
