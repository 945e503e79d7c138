//! Schedules: "every weekday at 9:00 in Asia/Almaty".

use super::{Concept, Cursor, Edit, Item, Reading, Reason, Token};

pub(super) fn take_zones(cursor: &mut Cursor) -> Vec<&'static str> {
    cursor.take_all(|item| match item {
        Item::Token(Token::Zone(zone)) => Some(*zone),
        _ => None,
    })
}

pub(super) fn read(cursor: &mut Cursor) -> Reading {
    let forbids = cursor.take(Concept::Forbid);
    let is_schedule = cursor.take(Concept::Schedule);
    cursor.take(Concept::Start);
    cursor.take_any(&[Concept::Set, Concept::Zone]);
    if forbids {
        return is_schedule.then(|| Ok(vec![Edit::Unschedule]));
    }
    if is_schedule {
        cursor.take(Concept::Allow);
    }
    let mut zones = take_zones(cursor);
    let timezone = zones.pop();
    if !zones.is_empty() {
        return None;
    }
    let is_repeated = cursor.take(Concept::Every);
    let cron = read_rhythm(cursor, is_repeated)?;
    Some(cron.map(|cron| vec![Edit::Schedule { cron, timezone }]))
}

/// Reads how often, as a cron expression.
fn read_rhythm(cursor: &mut Cursor, is_repeated: bool) -> Option<Result<String, Reason>> {
    let mut weekdays = cursor.take_all(|item| match item {
        Item::Concept(Concept::Weekday(day)) => Some(*day),
        _ => None,
    });
    let is_working_day = cursor.take(Concept::Weekdays);
    // "On Monday" and "for 15 minutes" may mean once.
    if !is_repeated && !is_working_day {
        return None;
    }
    let clocks = take_clocks(cursor);
    let ordinals = cursor.take_all(|item| match item {
        Item::Token(Token::Ordinal(number)) => Some(*number),
        _ => None,
    });
    let numbers = cursor.take_numbers();
    let is_month = cursor.take(Concept::Month);
    let (is_minute, is_hour) = (cursor.take(Concept::Minute), cursor.take(Concept::Hour));
    let is_day = cursor.take(Concept::Day);
    if !weekdays.is_empty() || is_working_day {
        weekdays.sort_unstable();
        weekdays.dedup();
        let is_plain = !is_month && !is_minute && !is_hour && numbers.is_empty() && ordinals.is_empty();
        let days = match (is_working_day, &weekdays[..]) {
            (true, []) => "1-5".to_owned(),
            (false, days) => days.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
            (true, _) => return None,
        };
        return is_plain.then(|| at(&clocks, &format!("* * {days}")));
    }
    match (is_month, is_day, is_hour, is_minute) {
        (true, _, false, false) => {
            let day = match (&ordinals[..], &numbers[..]) {
                ([day], []) => *day,
                ([], [day]) if is_day && day.fract() == 0.0 && *day < 32.0 => *day as u32,
                _ => return None,
            };
            Some(if (1..=28).contains(&day) {
                at(&clocks, &format!("{day} * *"))
            } else {
                Err(Reason::DayOfMonth)
            })
        }
        (false, true, false, false) if numbers.is_empty() && ordinals.is_empty() => {
            Some(at(&clocks, "* * *"))
        }
        (false, false, hours, minutes) if hours != minutes && clocks.is_empty() && ordinals.is_empty() => {
            let every = match numbers[..] {
                [] => 1.0,
                [number] => number,
                _ => return None,
            };
            Some(interval(every, hours))
        }
        _ => None,
    }
}

fn take_clocks(cursor: &mut Cursor) -> Vec<(u32, u32)> {
    cursor.take_all(|item| match item {
        Item::Token(Token::Clock(hour, minute)) => Some((*hour, *minute)),
        _ => None,
    })
}

/// Returns an expression for the times of day; several must be at one minute of the hour.
fn at(clocks: &[(u32, u32)], days: &str) -> Result<String, Reason> {
    let (_, minute) = clocks.first().ok_or(Reason::NoTime)?;
    if clocks.iter().any(|(_, other)| other != minute) {
        return Err(Reason::Words);
    }
    let mut hours: Vec<u32> = clocks.iter().map(|(hour, _)| *hour).collect();
    hours.sort_unstable();
    hours.dedup();
    let hours: Vec<String> = hours.iter().map(u32::to_string).collect();
    Ok(format!("{minute} {} {days}", hours.join(",")))
}

/// Returns an expression for an interval. Only one that divides an hour or a day has the same length all the time.
fn interval(every: f64, is_hours: bool) -> Result<String, Reason> {
    let whole = if is_hours { 24 } else { 60 };
    let number = every as u32;
    if every.fract() != 0.0 || number == 0 {
        return Err(Reason::UnevenInterval);
    }
    match (is_hours, number) {
        (false, 1) => Ok("* * * * *".to_owned()),
        (false, 60) | (true, 1) => Ok("0 * * * *".to_owned()),
        (true, 24) => Err(Reason::NoTime),
        _ if number < whole && whole % number == 0 => {
            Ok(if is_hours { format!("0 */{number} * * *") } else { format!("*/{number} * * * *") })
        }
        _ => Err(Reason::UnevenInterval),
    }
}
