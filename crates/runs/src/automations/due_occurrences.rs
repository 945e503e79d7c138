//! Selection of the past occurrences of a schedule that start a run.

use chrono::TimeDelta;
use kernel::Timestamp;

use super::{
    occurrences::{CatchUp, DueOccurrences, OccurrenceDecision, SkipReason},
    schedule::Schedule,
};

/// Delay up to which an occurrence is on time.
const ON_TIME_TOLERANCE: TimeDelta = TimeDelta::seconds(60);
/// Age beyond which occurrences are not examined one by one.
const MAX_LOOKBACK: TimeDelta = TimeDelta::days(31);
/// Most missed occurrences that are caught up.
const MAX_CAUGHT_UP: usize = 100;
/// Most occurrences that one transaction handles.
const MAX_BATCH: usize = 500;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automations::occurrences::{MAX_WINDOW_MINUTES, SchedulePolicy};

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
