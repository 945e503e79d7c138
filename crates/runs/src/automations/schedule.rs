//! When a schedule strikes.
//! See `docs/decisions/0120-the-hour-field-decides-daylight-saving.md`.

mod zone_clock;

use chrono::NaiveDateTime;
use chrono_tz::Tz;
use croner::{Cron, parser::CronParser};
use kernel::Timestamp;

use self::zone_clock::{LocalTimeMatch, ZoneClock};
use super::occurrences::{MAX_WINDOW_MINUTES, SchedulePolicy};
use crate::RunsError;

/// How a schedule follows the clocks when they are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HourMode {
    /// The hour field names hours: each time of day strikes once, when the clocks first show it or have skipped it.
    Fixed,
    /// The hour field has a `*`: it strikes whenever the clocks show a matching time, and only then.
    Wildcard,
}

/// A cron expression of five fields, as crontab(5), in a time zone.
#[derive(Debug, Clone)]
pub struct Schedule {
    expression: String,
    // Boxed: it is large, and most triggers are no schedules.
    cron: Box<Cron>,
    hour_mode: HourMode,
    timezone: Tz,
    policy: SchedulePolicy,
}

impl Schedule {
    /// Reads a schedule; UTC when no time zone is given.
    ///
    /// # Errors
    /// Naming the field that is off. A schedule that never strikes is refused too.
    pub fn parse(cron: &str, timezone: Option<&str>) -> Result<Self, RunsError> {
        let text = cron.trim();
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [_, hour, day_of_month, _, day_of_week] = fields[..] else { return Err(five_fields_required()) };
        if text.len() > 128 {
            return Err(five_fields_required());
        }
        // crontab(5): a day must match both fields when one of them begins with a `*`, else either.
        let is_wildcard = |field: &str| field.starts_with(['*', '?']);
        let require_both_day_fields = is_wildcard(day_of_month) || is_wildcard(day_of_week);
        let cron = CronParser::builder()
            .dom_and_dow(require_both_day_fields)
            .build()
            .parse(text)
            .map(Box::new)
            .map_err(|error| RunsError::invalid("trigger.cron", format!("is not understood: {error}")))?;
        let timezone = timezone.unwrap_or("UTC").parse::<Tz>().map_err(|_| {
            RunsError::invalid("trigger.timezone", "must be an IANA time zone such as Asia/Almaty")
        })?;
        let hours = if hour.contains('*') { HourMode::Wildcard } else { HourMode::Fixed };
        let schedule = Self {
            expression: text.to_owned(),
            cron,
            hour_mode: hours,
            timezone,
            policy: SchedulePolicy::default(),
        };
        if schedule.next_after(Timestamp::UNIX_EPOCH).is_none() {
            return Err(RunsError::invalid("trigger.cron", "never strikes"));
        }
        Ok(schedule)
    }

    /// The same schedule with what it does about missed moments and overlapping runs.
    ///
    /// # Errors
    /// When the window is out of bounds.
    pub fn with_policy(self, policy: SchedulePolicy) -> Result<Self, RunsError> {
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
    pub fn policy(&self) -> SchedulePolicy {
        self.policy
    }

    /// The expression as it was given.
    #[must_use]
    pub fn cron(&self) -> &str {
        &self.expression
    }

    /// The time zone's IANA name.
    #[must_use]
    pub fn timezone(&self) -> &'static str {
        self.timezone.name()
    }

    /// The first moment after `now` at which it strikes.
    #[must_use]
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let wall = ZoneClock(self.timezone);
        match self.hour_mode {
            HourMode::Fixed => {
                wall.first_instant_showing(self.next_local_match(wall.first_unshown_minute(now)?)?)
            }
            HourMode::Wildcard => {
                let next = self.next_forward_match(wall, now);
                // An hour that is about to be repeated may strike again before a later time of day does.
                let again = wall.find_set_back_after(now).and_then(|(change, from)| {
                    wall.instant_showing_since(self.next_local_match(from)?, change)
                });
                next.into_iter().chain(again).min()
            }
        }
    }

    /// The first moment after `now` at which the clocks show a matching time that is later than what they show now.
    fn next_forward_match(&self, wall: ZoneClock, now: Timestamp) -> Option<Timestamp> {
        let mut from = wall.next_local_minute(now)?;
        loop {
            match wall.next_instant_showing(self.next_local_match(from)?, now)? {
                LocalTimeMatch::At(at) => return Some(at),
                LocalTimeMatch::Skipped { until } => from = until,
            }
        }
    }

    /// The first time of day from `from` on that the expression matches, whether or not the clocks ever show it.
    fn next_local_match(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        // In UTC no time is skipped or repeated.
        let next = self.cron.find_next_occurrence(&from.and_utc(), true).ok()?;
        Some(next.naive_utc())
    }
}

fn five_fields_required() -> RunsError {
    RunsError::invalid("trigger.cron", "must have five fields, such as `0 9 * * 1`")
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        self.expression == other.expression && self.timezone == other.timezone && self.policy == other.policy
    }
}
impl Eq for Schedule {}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
