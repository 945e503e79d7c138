//! When a schedule strikes.

use std::str::FromStr as _;

use chrono::Utc;
use chrono_tz::Tz;
use croner::Cron;
use kernel::Timestamp;

use super::occurrences::{MAX_WINDOW_MINUTES, Policy};
use crate::RunsError;

/// A cron expression of five fields, as crontab(5), in a time zone.
#[derive(Debug, Clone)]
pub struct Schedule {
    text: String,
    // Boxed: it is large, and most triggers are no schedules.
    cron: Box<Cron>,
    timezone: Tz,
    policy: Policy,
}

impl Schedule {
    /// Reads a schedule; UTC when no time zone is given.
    ///
    /// # Errors
    /// Naming the field that is off. A schedule that never strikes is refused too.
    pub fn parse(cron: &str, timezone: Option<&str>) -> Result<Self, RunsError> {
        let text = cron.trim();
        if text.len() > 128 || text.split_whitespace().count() != 5 {
            return Err(RunsError::invalid("trigger.cron", "must have five fields, such as `0 9 * * 1`"));
        }
        let cron = Cron::from_str(text)
            .map(Box::new)
            .map_err(|error| RunsError::invalid("trigger.cron", format!("is not understood: {error}")))?;
        let timezone = timezone.unwrap_or("UTC").parse::<Tz>().map_err(|_| {
            RunsError::invalid("trigger.timezone", "must be an IANA time zone such as Asia/Almaty")
        })?;
        let schedule = Self { text: text.to_owned(), cron, timezone, policy: Policy::default() };
        if schedule.next_after(Timestamp::UNIX_EPOCH).is_none() {
            return Err(RunsError::invalid("trigger.cron", "never strikes"));
        }
        Ok(schedule)
    }

    /// The same schedule with what it does about missed moments and overlapping runs.
    ///
    /// # Errors
    /// When the window is out of bounds.
    pub fn with_policy(self, policy: Policy) -> Result<Self, RunsError> {
        if !(1..=MAX_WINDOW_MINUTES).contains(&policy.window_minutes) {
            return Err(RunsError::invalid(
                "trigger.catchUpMinutes",
                format!("must be from 1 to {MAX_WINDOW_MINUTES}"),
            ));
        }
        Ok(Self { policy, ..self })
    }

    /// What it does about missed moments and overlapping runs.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// The expression as it was given.
    #[must_use]
    pub fn cron(&self) -> &str {
        &self.text
    }

    /// The time zone's IANA name.
    #[must_use]
    pub fn timezone(&self) -> &'static str {
        self.timezone.name()
    }

    /// The first moment after `now` at which it strikes.
    #[must_use]
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.cron.find_next_occurrence(&now.with_timezone(&self.timezone), false).ok()?;
        Some(next.with_timezone(&Utc))
    }
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.timezone == other.timezone && self.policy == other.policy
    }
}
impl Eq for Schedule {}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn it_strikes_in_its_own_time_zone() {
        let schedule = Schedule::parse("30 9 * * 1", Some("Asia/Almaty")).unwrap();
        // Almaty is at UTC+5 the year round.
        assert_eq!(schedule.next_after(at("2026-11-20T00:00:00Z")), Some(at("2026-11-23T04:30:00Z")));
        assert_eq!(schedule.next_after(at("2026-11-23T04:30:00Z")), Some(at("2026-11-30T04:30:00Z")));
    }

    #[test]
    fn a_moment_that_the_clocks_skip_still_strikes_that_day() {
        let schedule = Schedule::parse("30 2 * * *", Some("Europe/Berlin")).unwrap();
        let next = schedule.next_after(at("2027-03-28T00:00:00Z")).unwrap();
        assert!(next >= at("2027-03-28T01:00:00Z") && next < at("2027-03-29T01:00:00Z"), "{next}");
    }

    #[test]
    fn the_hour_that_comes_twice_strikes_as_a_clock_does() {
        // On 2026-10-25 Berlin's clocks go from 03:00 back to 02:00: 02:30 is at 00:30 and 01:30 UTC.
        let daily = Schedule::parse("30 2 * * *", Some("Europe/Berlin")).unwrap();
        let mut moments = vec![daily.next_after(at("2026-10-24T12:00:00Z")).unwrap()];
        moments.push(daily.next_after(moments[0]).unwrap());
        assert_eq!(moments, [at("2026-10-25T00:30:00Z"), at("2026-10-26T01:30:00Z")]);
        // Every hour of the day, each once: 25 of them.
        let hourly = Schedule::parse("0 * * * *", Some("Europe/Berlin")).unwrap();
        let (mut moment, mut count) = (at("2026-10-24T21:59:59Z"), 0);
        while let Some(next) = hourly.next_after(moment).filter(|next| *next < at("2026-10-25T23:00:00Z")) {
            (moment, count) = (next, count + 1);
        }
        assert_eq!(count, 25);
    }

    #[test]
    fn nonsense_is_refused() {
        for cron in ["", "* * * *", "* * * * * *", "61 * * * *", "x * * * *", "0 0 31 2 *"] {
            assert!(Schedule::parse(cron, None).is_err(), "{cron:?}");
        }
        assert!(Schedule::parse("* * * * *", Some("Mars/Base")).is_err());
    }
}
