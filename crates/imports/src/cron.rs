//! Cron expressions of five fields.

/// Returns the expression for a time of day and the three other fields.
pub(crate) fn at(minute: u64, hour: u64, rest: &str) -> Option<String> {
    (minute < 60 && hour < 24).then(|| format!("{minute} {hour} {rest}"))
}

/// Returns the expression for a minute of every hour.
pub(crate) fn at_minute(minute: u64) -> Option<String> {
    (minute < 60).then(|| format!("{minute} * * * *"))
}

/// Returns the expression for every so many minutes, and whether its intervals are uneven.
pub(crate) fn every_minutes(minutes: u64) -> (Option<String>, bool) {
    match minutes {
        0 | 1 => (Some("* * * * *".to_owned()), minutes == 0),
        2..60 => (Some(format!("*/{minutes} * * * *")), 60 % minutes != 0),
        _ => {
            let (cron, is_uneven) = every_hours(minutes / 60, 0);
            (cron, is_uneven || !minutes.is_multiple_of(60))
        }
    }
}

/// Returns the expression for every so many hours, and whether its intervals are uneven.
pub(crate) fn every_hours(hours: u64, minute: u64) -> (Option<String>, bool) {
    let minute = minute.min(59);
    match hours {
        0 | 1 => (Some(format!("{minute} * * * *")), false),
        2..24 => (Some(format!("{minute} */{hours} * * *")), 24 % hours != 0),
        _ => (Some(format!("{minute} 0 */{} * *", (hours / 24).clamp(1, 31))), hours != 24),
    }
}

/// Returns an expression with five fields of one with five or six, and whether seconds are lost; none if it is neither.
pub(crate) fn five_fields(expression: &str) -> (Option<String>, bool) {
    let fields: Vec<&str> = expression.split_whitespace().collect();
    let is_plain = |fields: &[&str]| {
        fields.iter().all(|field| {
            field.len() <= 60
                && field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*/,-?".contains(&byte))
        })
    };
    match fields.as_slice() {
        [_, _, _, _, _] if is_plain(&fields) => (Some(fields.join(" ").replace('?', "*")), false),
        [second, rest @ ..] if rest.len() == 5 && is_plain(&fields) => {
            (Some(rest.join(" ").replace('?', "*")), *second != "0")
        }
        _ => (None, false),
    }
}
