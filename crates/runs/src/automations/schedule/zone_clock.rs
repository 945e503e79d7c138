//! What the clocks of a time zone show, across daylight changes.

use chrono::{
    DateTime, DurationRound as _, LocalResult, NaiveDateTime, Offset as _, TimeDelta, TimeZone as _, Utc,
};
use chrono_tz::{GapInfo, Tz};
use kernel::Timestamp;

const MINUTE: TimeDelta = TimeDelta::minutes(1);
/// No clock of the time zone database has gone back further than this, nor changed twice within it, since 1970.
const MAX_SET_BACK: TimeDelta = TimeDelta::hours(27);

/// The clocks of a time zone.
#[derive(Debug, Clone, Copy)]
pub(super) struct ZoneClock(pub(super) Tz);

/// The first moment at which a time is shown after some other moment, or the time at which a gap ends that holds it.
pub(super) enum LocalTimeMatch {
    At(Timestamp),
    Skipped { until: NaiveDateTime },
}

impl ZoneClock {
    /// What the clocks show at a moment.
    fn local_time_at(self, at: Timestamp) -> NaiveDateTime {
        at.with_timezone(&self.0).naive_local()
    }

    /// The first minute that the clocks show after `at` when they are not set back.
    pub(super) fn next_local_minute(self, at: Timestamp) -> Option<NaiveDateTime> {
        let shown = self.local_time_at(at).duration_trunc(MINUTE).ok()?;
        shown.checked_add_signed(MINUTE)
    }

    /// The first minute that the clocks have neither shown nor passed by `at`. While an hour repeats this is the minute
    /// after the repeated hour.
    pub(super) fn first_unshown_minute(self, at: Timestamp) -> Option<NaiveDateTime> {
        let next = self.next_local_minute(at)?;
        let Some(change) =
            at.checked_sub_signed(MAX_SET_BACK).and_then(|since| self.find_offset_change(since, at))
        else {
            return Some(next);
        };
        // What the clocks would have shown at the change had they not been set.
        let before = change.checked_sub_signed(TimeDelta::seconds(1))?;
        let end = ceil_to_minute(self.local_time_at(before).checked_add_signed(TimeDelta::seconds(1))?)?;
        Some(next.max(end))
    }

    /// The first moment at which the clocks show `local` or, where they skip it, a later time.
    pub(super) fn first_instant_showing(self, local: NaiveDateTime) -> Option<Timestamp> {
        match self.0.from_local_datetime(&local) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.with_timezone(&Utc)),
            LocalResult::None => Some(GapInfo::new(&local, &self.0)?.end?.with_timezone(&Utc)),
        }
    }

    /// The first moment after `after` at which the clocks show `local`.
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

    /// Where the clocks are set back soon after `after`: the moment of it, and the first minute they show again.
    pub(super) fn find_set_back_after(self, after: Timestamp) -> Option<(Timestamp, NaiveDateTime)> {
        let change = self.find_offset_change(after, after.checked_add_signed(MAX_SET_BACK)?)?;
        let back = self.offset(change) < self.offset(after);
        if back { Some((change, ceil_to_minute(self.local_time_at(change))?)) } else { None }
    }

    /// The moment at which the clocks show `local`, given that they have not been changed since `since`.
    pub(super) fn instant_showing_since(self, local: NaiveDateTime, since: Timestamp) -> Option<Timestamp> {
        let at = since.checked_add_signed(local - self.local_time_at(since))?;
        (self.local_time_at(at) == local).then_some(at)
    }

    /// Seconds east of UTC.
    fn offset(self, at: Timestamp) -> i32 {
        self.0.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc()
    }

    /// The first moment of another offset in (`from`, `to`], to the second.
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

/// The first full minute from `local` on.
fn ceil_to_minute(local: NaiveDateTime) -> Option<NaiveDateTime> {
    let minute = local.duration_trunc(MINUTE).ok()?;
    if minute == local { Some(minute) } else { minute.checked_add_signed(MINUTE) }
}
