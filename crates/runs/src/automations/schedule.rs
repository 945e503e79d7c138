//! Schedules: cron expressions in a time zone.
//! See `docs/decisions/0120-the-hour-field-decides-daylight-saving.md`.

mod fields;
mod zone_clock;

use chrono::NaiveDateTime;
use chrono_tz::Tz;
use croner::{Cron, parser::CronParser};
use kernel::Timestamp;

pub use self::fields::{CronFault, CronField, InvalidCronItem};
use self::zone_clock::{LocalTimeMatch, ZoneClock};
use super::occurrences::{MAX_WINDOW_MINUTES, SchedulePolicy};
use crate::{InvalidInput, RunsError};

/// Most bytes of an expression.
const MAX_EXPRESSION_BYTES: usize = 128;

/// Behavior of a schedule when the clocks change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HourMode {
    /// The hour field names hours: each time of day fires once, when the clocks first show it or have skipped it.
    Fixed,
    /// The hour field has a `*`: each matching time fires whenever the clocks show it, and only then.
    Wildcard,
}

/// A cron expression of five fields, as crontab(5), in a time zone.
#[derive(Debug, Clone)]
pub struct Schedule {
    expression: String,
    // Boxed, because it is large and most triggers are not schedules.
    cron: Box<Cron>,
    hour_mode: HourMode,
    timezone: Tz,
    policy: SchedulePolicy,
}

impl Schedule {
    /// Parses a cron expression of at most 128 bytes and an IANA time zone, UTC by default.
    ///
    /// # Errors
    /// [`RunsError::InvalidInput`] for an expression that does not parse or never fires, and for an unknown time zone.
    pub fn parse(cron: &str, timezone: Option<&str>) -> Result<Self, RunsError> {
        let fields: Vec<&str> = cron.split_whitespace().collect();
        let fields: [&str; 5] = fields.try_into().map_err(|_| five_fields_required())?;
        if cron.trim().len() > MAX_EXPRESSION_BYTES {
            return Err(five_fields_required());
        }
        fields::check(fields).map_err(InvalidInput::CronItem)?;
        Self::from_stored(cron, timezone)
    }

    /// Parses an expression that was accepted before, perhaps by rules that refuse less.
    ///
    /// # Errors
    /// [`RunsError::InvalidInput`] as [`Self::parse`].
    pub fn from_stored(cron: &str, timezone: Option<&str>) -> Result<Self, RunsError> {
        let text = cron.trim();
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [_, hour, day_of_month, _, day_of_week] = fields[..] else { return Err(five_fields_required()) };
        // crontab(5): a day must match both fields when one of them begins with a `*`, else either.
        let is_wildcard = |field: &str| field.starts_with(['*', '?']);
        let require_both_day_fields = is_wildcard(day_of_month) || is_wildcard(day_of_week);
        let cron = CronParser::builder()
            .dom_and_dow(require_both_day_fields)
            .build()
            .parse(text)
            .map(Box::new)
            .map_err(|error| InvalidInput::Cron(error.to_string()))?;
        let timezone = timezone.unwrap_or("UTC").parse::<Tz>().map_err(|_| InvalidInput::Timezone)?;
        let hours = if hour.contains('*') { HourMode::Wildcard } else { HourMode::Fixed };
        let schedule = Self {
            expression: text.to_owned(),
            cron,
            hour_mode: hours,
            timezone,
            policy: SchedulePolicy::default(),
        };
        if schedule.next_after(Timestamp::UNIX_EPOCH).is_none() {
            return Err(InvalidInput::CronNeverFires.into());
        }
        Ok(schedule)
    }

    /// Returns the schedule with another policy.
    ///
    /// # Errors
    /// [`RunsError::InvalidInput`] when the window is out of bounds.
    pub fn with_policy(self, policy: SchedulePolicy) -> Result<Self, RunsError> {
        if !(1..=MAX_WINDOW_MINUTES).contains(&policy.window_minutes) {
            return Err(InvalidInput::CatchUpWindow.into());
        }
        Ok(Self { policy, ..self })
    }

    /// Returns the policy for missed occurrences and overlapping runs.
    #[must_use]
    pub fn policy(&self) -> SchedulePolicy {
        self.policy
    }

    /// Returns the cron expression as it was given.
    #[must_use]
    pub fn cron(&self) -> &str {
        &self.expression
    }

    /// Returns the IANA name of the time zone.
    #[must_use]
    pub fn timezone(&self) -> &'static str {
        self.timezone.name()
    }

    /// Returns the first occurrence after `now`.
    #[must_use]
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        let clock = ZoneClock(self.timezone);
        match self.hour_mode {
            HourMode::Fixed => {
                clock.first_instant_showing(self.next_local_match(clock.first_unshown_minute(now)?)?)
            }
            HourMode::Wildcard => {
                let next = self.next_forward_match(clock, now);
                // An hour that is about to be repeated may fire again before a later time of day does.
                let again = clock.find_set_back_after(now).and_then(|(change, from)| {
                    clock.instant_showing_since(self.next_local_match(from)?, change)
                });
                next.into_iter().chain(again).min()
            }
        }
    }

    /// Returns the first instant after `now` at which the clocks show a matching time that is later than what they show
    /// now.
    fn next_forward_match(&self, clock: ZoneClock, now: Timestamp) -> Option<Timestamp> {
        let mut from = clock.next_local_minute(now)?;
        loop {
            match clock.next_instant_showing(self.next_local_match(from)?, now)? {
                LocalTimeMatch::At(at) => return Some(at),
                LocalTimeMatch::Skipped { until } => from = until,
            }
        }
    }

    /// Returns the first local time from `from` on that the expression matches, even if the clocks never show it.
    fn next_local_match(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        // In UTC no time is skipped or repeated.
        let next = self.cron.find_next_occurrence(&from.and_utc(), true).ok()?;
        Some(next.naive_utc())
    }
}

fn five_fields_required() -> RunsError {
    InvalidInput::CronFields.into()
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
