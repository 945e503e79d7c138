//! The clocks of a time zone, across changes of daylight saving time.

use chrono::{
    DateTime, DurationRound as _, LocalResult, NaiveDateTime, Offset as _, TimeDelta, TimeZone as _, Utc,
};
use chrono_tz::{GapInfo, Tz};
use kernel::Timestamp;

const MINUTE: TimeDelta = TimeDelta::minutes(1);
/// Longest time that clocks were set back by. Since 1970 no clock of the time zone database has changed twice within
/// it.
const MAX_SET_BACK: TimeDelta = TimeDelta::hours(27);

/// The clocks of a time zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct ZoneClock(pub(super) Tz);

/// Instant at which the clocks show a local time.
pub(super) enum LocalTimeMatch {
    /// The first such instant after another one.
    At(Timestamp),
    /// The clocks skip the time; the gap ends at this local time, rounded up to a minute.
    Skipped { until: NaiveDateTime },
}

impl ZoneClock {
    /// Returns the local time that the clocks show at an instant.
    fn local_time_at(self, at: Timestamp) -> NaiveDateTime {
        at.with_timezone(&self.0).naive_local()
    }

    /// Returns the first minute that the clocks show after `at` if they are not set back.
    pub(super) fn next_local_minute(self, at: Timestamp) -> Option<NaiveDateTime> {
        let shown = self.local_time_at(at).duration_trunc(MINUTE).ok()?;
        shown.checked_add_signed(MINUTE)
    }

    /// Returns the first minute that the clocks have neither shown nor passed by `at`. While an hour repeats, this is
    /// the minute after the repeated hour.
    pub(super) fn first_unshown_minute(self, at: Timestamp) -> Option<NaiveDateTime> {
        let next = self.next_local_minute(at)?;
        let Some(change) =
            at.checked_sub_signed(MAX_SET_BACK).and_then(|since| self.find_offset_change(since, at))
        else {
            return Some(next);
        };
        // The time that the clocks would have shown at the change if they had not been set.
        let before = change.checked_sub_signed(TimeDelta::seconds(1))?;
        let end = ceil_to_minute(self.local_time_at(before).checked_add_signed(TimeDelta::seconds(1))?)?;
        Some(next.max(end))
    }

    /// Returns the first instant at which the clocks show `local` or, if they skip it, a later time.
    pub(super) fn first_instant_showing(self, local: NaiveDateTime) -> Option<Timestamp> {
        match self.0.from_local_datetime(&local) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.with_timezone(&Utc)),
            LocalResult::None => Some(GapInfo::new(&local, &self.0)?.end?.with_timezone(&Utc)),
        }
    }

    /// Returns the first instant after `after` at which the clocks show `local`.
    pub(super) fn next_instant_showing(
        self,
        local: NaiveDateTime,
        after: Timestamp,
    ) -> Option<LocalTimeMatch> {
        let late =
            |at: DateTime<Tz>| Some(at.with_timezone(&Utc)).filter(|at| *at > after).map(LocalTimeMatch::At);
        match self.0.from_local_datetime(&local) {
            LocalResult::Single(at) => late(at),
            LocalResult::Ambiguous(first, second) => late(first).or_else(|| late(second)),
            LocalResult::None => {
                let until = GapInfo::new(&local, &self.0)?.end?.naive_local();
                Some(LocalTimeMatch::Skipped { until: ceil_to_minute(until)? })
            }
        }
    }

    /// Returns the instant at which the clocks are set back soon after `after`, and the first minute that they repeat.
    pub(super) fn find_set_back_after(self, after: Timestamp) -> Option<(Timestamp, NaiveDateTime)> {
        let change = self.find_offset_change(after, after.checked_add_signed(MAX_SET_BACK)?)?;
        let back = self.offset(change) < self.offset(after);
        if back { Some((change, ceil_to_minute(self.local_time_at(change))?)) } else { None }
    }

    /// Returns the instant at which the clocks show `local`, if they were not changed since `since`.
    pub(super) fn instant_showing_since(self, local: NaiveDateTime, since: Timestamp) -> Option<Timestamp> {
        let at = since.checked_add_signed(local - self.local_time_at(since))?;
        (self.local_time_at(at) == local).then_some(at)
    }

    /// Returns the seconds east of UTC.
    fn offset(self, at: Timestamp) -> i32 {
        self.0.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc()
    }

    /// Returns the first instant with another offset in (`from`, `to`], to the second.
    fn find_offset_change(self, from: Timestamp, to: Timestamp) -> Option<Timestamp> {
        let before = self.offset(from);
        if self.offset(to) == before {
            return None;
        }
        let (mut low, mut high) = (from.timestamp(), to.timestamp());
        while high - low > 1 {
            let middle = i64::midpoint(low, high);
            let changed = self.offset(DateTime::from_timestamp(middle, 0)?) != before;
            if changed { high = middle } else { low = middle }
        }
        DateTime::from_timestamp(high, 0)
    }
}

/// Rounds up to a full minute.
fn ceil_to_minute(local: NaiveDateTime) -> Option<NaiveDateTime> {
    let minute = local.duration_trunc(MINUTE).ok()?;
    if minute == local { Some(minute) } else { minute.checked_add_signed(MINUTE) }
}
