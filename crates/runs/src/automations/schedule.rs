//! When a schedule strikes.

mod wall;

use chrono::NaiveDateTime;
use chrono_tz::Tz;
use croner::{Cron, parser::CronParser};
use kernel::Timestamp;

use self::wall::{Shown, Wall};
use super::occurrences::{MAX_WINDOW_MINUTES, Policy};
use crate::RunsError;

/// How a schedule follows the clocks when they are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hours {
    /// The hour field names hours: each time of day strikes once, when the clocks first show it or have skipped it.
    Named,
    /// The hour field has a `*`: it strikes whenever the clocks show a matching time, and only then.
    Every,
}

/// A cron expression of five fields, as crontab(5), in a time zone.
#[derive(Debug, Clone)]
pub struct Schedule {
    text: String,
    // Boxed: it is large, and most triggers are no schedules.
    cron: Box<Cron>,
    hours: Hours,
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
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [_, hour, day_of_month, _, day_of_week] = fields[..] else { return Err(five_fields()) };
        if text.len() > 128 {
            return Err(five_fields());
        }
        // crontab(5): a day must match both fields when one of them begins with a `*`, else either.
        let wild = |field: &str| field.starts_with(['*', '?']);
        let both = wild(day_of_month) || wild(day_of_week);
        let cron = CronParser::builder()
            .dom_and_dow(both)
            .build()
            .parse(text)
            .map(Box::new)
            .map_err(|error| RunsError::invalid("trigger.cron", format!("is not understood: {error}")))?;
        let timezone = timezone.unwrap_or("UTC").parse::<Tz>().map_err(|_| {
            RunsError::invalid("trigger.timezone", "must be an IANA time zone such as Asia/Almaty")
        })?;
        let hours = if hour.contains('*') { Hours::Every } else { Hours::Named };
        let schedule = Self { text: text.to_owned(), cron, hours, timezone, policy: Policy::default() };
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
        let wall = Wall(self.timezone);
        match self.hours {
            Hours::Named => wall.first_at(self.matching(wall.first_unseen(now)?)?),
            Hours::Every => {
                let next = self.next_shown(wall, now);
                // An hour that is about to be repeated may strike again before a later time of day does.
                let again = wall
                    .set_back_after(now)
                    .and_then(|(change, from)| wall.shown_since(self.matching(from)?, change));
                next.into_iter().chain(again).min()
            }
        }
    }

    /// The first moment after `now` at which the clocks show a matching time that is later than what they show now.
    fn next_shown(&self, wall: Wall, now: Timestamp) -> Option<Timestamp> {
        let mut from = wall.next_minute(now)?;
        loop {
            match wall.shown_after(self.matching(from)?, now)? {
                Shown::At(at) => return Some(at),
                Shown::Skipped { until } => from = until,
            }
        }
    }

    /// The first time of day from `from` on that the expression matches, whether or not the clocks ever show it.
    fn matching(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        // In UTC no time is skipped or repeated.
        let next = self.cron.find_next_occurrence(&from.and_utc(), true).ok()?;
        Some(next.naive_utc())
    }
}

fn five_fields() -> RunsError {
    RunsError::invalid("trigger.cron", "must have five fields, such as `0 9 * * 1`")
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.timezone == other.timezone && self.policy == other.policy
    }
}
impl Eq for Schedule {}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
