//! Schedules of the tools as cron expressions of five fields, and what becomes of those that cron cannot say.

/// A schedule, and how it differs from the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// `None` if the schedule is not understood.
    pub(crate) cron: Option<String>,
    pub(crate) change: Option<Change>,
}

/// A difference from the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// One interval became another.
    Interval { wanted: Interval, kept: Interval },
    /// The interval is counted anew from each hour, day, month or year.
    Uneven(Interval),
    /// Of so many rules the first is kept.
    Rules(usize),
    /// A schedule has minutes.
    Seconds,
}

/// A time between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) count: u64,
    pub(crate) unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
}

impl Unit {
    /// Returns the interval of so many.
    pub(crate) fn times(self, count: u64) -> Interval {
        Interval { count, unit: self }
    }
}

impl Plan {
    /// Returns a schedule that does what the original does.
    pub(crate) fn exact(cron: Option<String>) -> Self {
        Self { cron, change: None }
    }

    fn changed(cron: String, wanted: Interval, kept: Interval) -> Self {
        Self { cron: Some(cron), change: Some(Change::Interval { wanted, kept }) }
    }

    fn uneven(cron: String, wanted: Interval, is_uneven: bool) -> Self {
        Self { cron: Some(cron), change: is_uneven.then_some(Change::Uneven(wanted)) }
    }
}

/// Returns the expression for a time of day and the three other fields.
pub(crate) fn at(minute: u64, hour: u64, rest: &str) -> Option<String> {
    (minute < 60 && hour < 24).then(|| format!("{minute} {hour} {rest}"))
}

/// Returns the expression for a minute of every hour.
pub(crate) fn at_minute(minute: u64) -> Option<String> {
    (minute < 60).then(|| format!("{minute} * * * *"))
}

/// Returns the schedule for every so many seconds.
pub(crate) fn every_seconds(seconds: u64) -> Plan {
    if seconds >= 60 && seconds.is_multiple_of(60) {
        return every_minutes(seconds / 60);
    }
    let wanted = Unit::Second.times(seconds);
    let Plan { cron, change } = every_minutes((seconds / 60).max(1));
    let kept = match change {
        Some(Change::Interval { kept, .. }) => kept,
        Some(Change::Uneven(interval)) => interval,
        _ => Unit::Minute.times((seconds / 60).max(1)),
    };
    Plan { cron, change: Some(Change::Interval { wanted, kept }) }
}

/// Returns the schedule for every so many minutes.
pub(crate) fn every_minutes(minutes: u64) -> Plan {
    let wanted = Unit::Minute.times(minutes);
    match minutes {
        0 => Plan::changed("* * * * *".to_owned(), wanted, Unit::Minute.times(1)),
        1 => Plan::exact(Some("* * * * *".to_owned())),
        2..60 => Plan::uneven(format!("*/{minutes} * * * *"), wanted, 60 % minutes != 0),
        _ if minutes.is_multiple_of(60) => every_hours(minutes / 60, 0),
        _ => {
            let (cron, kept) = hours(minutes / 60, 0);
            Plan::changed(cron, wanted, kept)
        }
    }
}

/// Returns the schedule for every so many hours, at a minute.
pub(crate) fn every_hours(count: u64, minute: u64) -> Plan {
    let (cron, kept) = hours(count.max(1), minute);
    let wanted = Unit::Hour.times(count.max(1));
    match count {
        2..24 => Plan::uneven(cron, wanted, 24 % count != 0),
        _ if kept == wanted || count == 24 => Plan::exact(Some(cron)),
        _ if count.is_multiple_of(24) && kept.count == count / 24 => {
            Plan { cron: Some(cron), change: Some(Change::Uneven(kept)) }
        }
        _ => Plan::changed(cron, wanted, kept),
    }
}

/// Returns the nearest expression for every so many hours, and what it says.
fn hours(count: u64, minute: u64) -> (String, Interval) {
    let minute = minute.min(59);
    match count {
        0 | 1 => (format!("{minute} * * * *"), Unit::Hour.times(1)),
        2..24 => (format!("{minute} */{count} * * *"), Unit::Hour.times(count)),
        24..48 => (format!("{minute} 0 * * *"), Unit::Day.times(1)),
        _ => {
            let days = (count / 24).min(31);
            (format!("{minute} 0 */{days} * *"), Unit::Day.times(days))
        }
    }
}

/// Returns the schedule for every so many days, at a time.
pub(crate) fn every_days(count: u64, minute: u64, hour: u64) -> Plan {
    let wanted = Unit::Day.times(count);
    match count {
        0 | 1 => Plan::exact(at(minute, hour, "* * *")),
        2..=31 => {
            Plan { cron: at(minute, hour, &format!("*/{count} * *")), change: Some(Change::Uneven(wanted)) }
        }
        _ => Plan {
            cron: at(minute, hour, "*/31 * *"),
            change: Some(Change::Interval { wanted, kept: Unit::Month.times(1) }),
        },
    }
}

/// Returns the schedule for days of every so many weeks, at a time.
pub(crate) fn every_weeks(count: u64, minute: u64, hour: u64, days: &str) -> Plan {
    let change =
        (count > 1).then(|| Change::Interval { wanted: Unit::Week.times(count), kept: Unit::Week.times(1) });
    Plan { cron: at(minute, hour, &format!("* * {days}")), change }
}

/// Schedules with names.
const NAMED: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// Returns the schedule of an expression with five or six fields, or of its name. An expression of a tool that is a literal, such as
/// `=0 9 * * *`, is one too.
pub(crate) fn parse(expression: &str) -> Plan {
    let expression = expression.trim();
    let expression = expression.strip_prefix('=').unwrap_or(expression).trim();
    if let Some((_, cron)) = NAMED.iter().find(|(name, _)| expression.eq_ignore_ascii_case(name)) {
        return Plan::exact(Some((*cron).to_owned()));
    }
    let fields: Vec<&str> = expression.split_whitespace().collect();
    let is_plain = fields.iter().all(|field| {
        field.len() <= 60
            && field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*/,-?#".contains(&byte))
    });
    let joined = |fields: &[&str]| Some(fields.join(" ").replace('?', "*"));
    match fields.as_slice() {
        [_, _, _, _, _] if is_plain => Plan::exact(joined(&fields)),
        [second, rest @ ..] if rest.len() == 5 && is_plain => {
            Plan { cron: joined(rest), change: (*second != "0").then_some(Change::Seconds) }
        }
        _ => Plan::exact(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(cron: &str, change: Option<Change>) -> Plan {
        Plan { cron: Some(cron.to_owned()), change }
    }

    #[test]
    fn what_cron_cannot_say_is_told() {
        let interval = |wanted, kept| Some(Change::Interval { wanted, kept });
        let uneven = |unit: Unit, count| Some(Change::Uneven(unit.times(count)));
        assert_eq!(every_minutes(15), plan("*/15 * * * *", None));
        assert_eq!(every_minutes(7), plan("*/7 * * * *", uneven(Unit::Minute, 7)));
        let changed = interval(Unit::Minute.times(90), Unit::Hour.times(1));
        assert_eq!(every_minutes(90), plan("0 * * * *", changed));
        assert_eq!(every_minutes(120), plan("0 */2 * * *", None));
        assert_eq!(every_hours(1, 5), plan("5 * * * *", None));
        assert_eq!(every_hours(5, 0), plan("0 */5 * * *", uneven(Unit::Hour, 5)));
        assert_eq!(every_hours(24, 0), plan("0 0 * * *", None));
        assert_eq!(every_hours(36, 0), plan("0 0 * * *", interval(Unit::Hour.times(36), Unit::Day.times(1))));
        assert_eq!(every_hours(48, 0), plan("0 0 */2 * *", uneven(Unit::Day, 2)));
        assert_eq!(every_days(1, 0, 9), plan("0 9 * * *", None));
        assert_eq!(every_days(3, 0, 9), plan("0 9 */3 * *", uneven(Unit::Day, 3)));
        let changed = interval(Unit::Week.times(2), Unit::Week.times(1));
        assert_eq!(every_weeks(2, 0, 9, "1"), plan("0 9 * * 1", changed));
        assert_eq!(every_seconds(60), plan("* * * * *", None));
        let changed = interval(Unit::Second.times(30), Unit::Minute.times(1));
        assert_eq!(every_seconds(30), plan("* * * * *", changed));
        let changed = interval(Unit::Second.times(100), Unit::Minute.times(1));
        assert_eq!(every_seconds(100), plan("* * * * *", changed));
    }

    #[test]
    fn expressions_come_in_several_forms() {
        assert_eq!(parse("0 9 * * 1-5"), plan("0 9 * * 1-5", None));
        assert_eq!(parse("0 0 9 ? * MON"), plan("0 9 * * MON", None));
        assert_eq!(parse("30 0 9 * * *"), plan("0 9 * * *", Some(Change::Seconds)));
        assert_eq!(parse("@daily"), plan("0 0 * * *", None));
        assert_eq!(parse("0 9 * JAN-MAR MON#1"), plan("0 9 * JAN-MAR MON#1", None));
        assert_eq!(parse("=0 9 * * *"), plan("0 9 * * *", None));
        for other in ["", "@reboot", "={{ $json.cron }}", "0 9 * *", "0 9 * * * * *"] {
            assert_eq!(parse(other), Plan::exact(None), "{other}");
        }
    }
}
