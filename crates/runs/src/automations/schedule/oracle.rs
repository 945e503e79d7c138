//! Comparison of schedules with a slow and simple reference, which reads the clock of a zone minute by minute.

use chrono::{Datelike as _, NaiveDateTime, TimeDelta, TimeZone as _, Timelike as _};
use chrono_tz::{TZ_VARIANTS, Tz};
use kernel::{Randomness, SeededRandomness, Timestamp};

use super::Schedule;

/// Zones whose clocks change by hours and half hours, at night and at midnight, by a whole day, by three hours, and
/// never.
const ZONES: [&str; 24] = [
    "America/New_York",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Dublin",
    "Europe/Moscow",
    "Asia/Almaty",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Amman",
    "Asia/Pyongyang",
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Sao_Paulo",
    "America/Havana",
    "America/Santiago",
    "America/Asuncion",
    "America/Caracas",
    "Antarctica/Casey",
    "Antarctica/Troll",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
];

const EXPRESSIONS: [&str; 16] = [
    "30 2 * * *",
    "0 0 * * *",
    "0,30 2 * * *",
    "*/30 1 * * *",
    "0 1,13 * * *",
    "0 2,14 * * *",
    "59 23 * * *",
    "*/20 0-3 * * *",
    "5-59/18 1-23/2 * * *",
    "0 * * * *",
    "45 * * * *",
    "*/15 */2 * * *",
    "0 */12 * * *",
    "30 0,1,2,3 * * 0,6",
    "10 2 * 3,10,11 */2",
    "15 1 20-31 * 0",
];

/// Returns the values that a field allows, as bits.
fn field(text: &str, low: u32, high: u32) -> u64 {
    let mut bits = 0;
    for part in text.split(',') {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (low, high),
            (_, Some((from, to))) => (from.parse().unwrap(), to.parse().unwrap()),
            (one, None) => (one.parse().unwrap(), one.parse().unwrap()),
        };
        for value in (from..=to).step_by(step.parse().unwrap()) {
            bits |= 1_u64 << value;
        }
    }
    bits
}

/// An expression without names, parsed independently of the schedule.
struct Reference {
    fields: [u64; 5],
    both_days: bool,
    star_hours: bool,
}

impl Reference {
    fn new(text: &str) -> Self {
        let parts: Vec<&str> = text.split(' ').collect();
        let bounds = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];
        let mut fields = [0; 5];
        for (place, (part, (low, high))) in fields.iter_mut().zip(parts.iter().zip(bounds)) {
            *place = field(part, low, high);
        }
        fields[4] |= fields[4] >> 7;
        let both_days = parts[2].starts_with('*') || parts[4].starts_with('*');
        Self { fields, both_days, star_hours: parts[1].contains('*') }
    }

    fn matches(&self, local: &Local) -> bool {
        let has = |index: usize| self.fields[index] & local.bits[index] != 0;
        let day = if self.both_days { has(2) && has(4) } else { has(2) || has(4) };
        day && has(0) && has(1) && has(3)
    }

    /// Returns the steps of `walk` at which it fires; the first step never does.
    fn occurrences(&self, walk: &[Step], shown: &[Local]) -> Vec<Timestamp> {
        let mut reached = walk[0].shown;
        let mut occurrences = Vec::new();
        for step in &walk[1..] {
            let fires = if self.star_hours {
                self.matches(&shown[step.shown])
            } else {
                // Each local time that the clock shows or has skipped for the first time.
                (reached + 1..=step.shown).any(|index| self.matches(&shown[index]))
            };
            if fires {
                occurrences.push(step.at);
            }
            reached = reached.max(step.shown);
        }
        occurrences
    }
}

/// A local time, each of its fields as one bit.
struct Local {
    bits: [u64; 5],
}

impl Local {
    fn new(local: NaiveDateTime) -> Self {
        let weekday = local.weekday().num_days_from_sunday();
        Self {
            bits: [local.minute(), local.hour(), local.day(), local.month(), weekday].map(|value| 1 << value),
        }
    }
}

/// An instant, and the index of the local time that the clock shows then.
struct Step {
    at: Timestamp,
    shown: usize,
}

/// Returns the instants between two others, in steps of some minutes, and all local times that the clock could show
/// then.
fn walk(zone: Tz, from: Timestamp, to: Timestamp, minutes: i64) -> (Vec<Step>, Vec<Local>) {
    let shown = |at: Timestamp| zone.from_utc_datetime(&at.naive_utc()).naive_local();
    let origin = shown(from) - TimeDelta::hours(30);
    let count = (shown(to) - origin).num_minutes() / minutes + 31 * 60;
    let locals = (0..count).map(|index| Local::new(origin + TimeDelta::minutes(index * minutes))).collect();
    let steps = (0..=(to - from).num_minutes() / minutes).map(|index| {
        let at = from + TimeDelta::minutes(index * minutes);
        let since = (shown(at) - origin).num_minutes();
        assert_eq!(since % minutes, 0, "{zone} {at}");
        Step { at, shown: usize::try_from(since / minutes).unwrap() }
    });
    (steps.collect(), locals)
}

fn compare(zone: Tz, text: &str, walk: &[Step], shown: &[Local]) {
    let schedule = Schedule::parse(text, Some(zone.name())).unwrap();
    let expected = Reference::new(text).occurrences(walk, shown);
    let (from, to) = (walk[0].at, walk.last().unwrap().at);
    let mut next = schedule.next_after(from);
    for time in &expected {
        assert_eq!(next, Some(*time), "{text} in {zone} after {from}");
        next = schedule.next_after(*time);
    }
    assert!(next.is_none_or(|next| next > to), "{text} in {zone}: {next:?} is one too many");
}

fn at(year: i32) -> Timestamp {
    chrono::Utc.with_ymd_and_hms(year, 1, 1, 0, 0, 0).unwrap()
}

/// Returns the starts of those spans of `span` hours over which a zone's offset changes.
fn changes(zone: Tz, from: Timestamp, to: Timestamp, span: i64) -> Vec<Timestamp> {
    let offset = |at: Timestamp| {
        let there = zone.from_utc_datetime(&at.naive_utc());
        there.naive_local() - at.naive_utc()
    };
    let starts = (0..(to - from).num_hours() / span).map(|index| from + TimeDelta::hours(index * span));
    starts.filter(|start| offset(*start) != offset(*start + TimeDelta::hours(span))).collect()
}

/// Returns an expression that fires around the hours at which clocks change, with lists, ranges and steps.
fn random_expression(random: &dyn Randomness) -> String {
    let number = |below: u32| random.below(below);
    let minute = match number(5) {
        0 => format!("*/{}", 7 + number(30)),
        1 => format!("{},{}", number(30), 30 + number(30)),
        2 => format!("{}-{}/{}", number(20), 20 + number(40), 5 + number(9)),
        _ => number(60).to_string(),
    };
    let hour = match number(7) {
        0 => "*".to_owned(),
        1 => format!("*/{}", 1 + number(5)),
        2 => format!("{},{}", number(4), 4 + number(20)),
        3 => format!("{}-{}", number(3), 3 + number(21)),
        4 => format!("0-23/{}", 1 + number(4)),
        5 => "23,0,1".to_owned(),
        _ => number(4).to_string(),
    };
    let day = match number(5) {
        0 => format!("*/{}", 1 + number(3)),
        1 => format!("{}-31", 1 + number(20)),
        _ => "*".to_owned(),
    };
    let weekday = match number(5) {
        0 => "0".to_owned(),
        1 => "5-7".to_owned(),
        2 => format!("*/{}", 1 + number(3)),
        _ => "*".to_owned(),
    };
    format!("{minute} {hour} {day} * {weekday}")
}

#[test]
fn every_change_of_clocks_in_ten_years_minute_by_minute() {
    let random = SeededRandomness::new(14);
    let day = TimeDelta::hours(28);
    let mut seen = 0;
    for zone in ZONES.map(|name| name.parse::<Tz>().unwrap()) {
        let days = changes(zone, at(2010), at(2020), 24).into_iter();
        let hours = days.flat_map(|day| changes(zone, day, day + TimeDelta::hours(24), 1));
        for (index, change) in hours.enumerate() {
            let (steps, shown) = walk(zone, change - day, change + day, 1);
            for text in EXPRESSIONS.iter().cycle().skip(index * 5).take(4) {
                compare(zone, text, &steps, &shown);
            }
            for _ in 0..4 {
                compare(zone, &random_expression(&random), &steps, &shown);
            }
            seen += 1;
        }
    }
    assert!(seen > 350, "only {seen} changes were compared");
}

#[test]
fn ten_whole_years_in_steps_of_half_an_hour() {
    // A third of the zones, to save time: nothing new happens between two changes.
    for (index, zone) in ZONES.map(|name| name.parse::<Tz>().unwrap()).into_iter().step_by(3).enumerate() {
        let minutes = match zone {
            // Its clocks went forward at a minute past midnight.
            Tz::Asia__Gaza => continue,
            Tz::Asia__Kathmandu | Tz::Pacific__Chatham => 15,
            _ => 30,
        };
        let (steps, shown) = walk(zone, at(2010), at(2020), minutes);
        let dense = ["0 * * * *", "30 */3 * * 1", "0,30 1,2,3 * * 0", "0 0-23/2 * * 6,0"][index % 4];
        for text in ["30 2 * * *", "0 0 1,29,31 * *", dense] {
            compare(zone, text, &steps, &shown);
        }
    }
}

#[test]
fn every_zone_from_now_on() {
    for zone in TZ_VARIANTS {
        for change in changes(zone, at(2026), at(2027), 24) {
            let day = TimeDelta::hours(24);
            let (steps, shown) = walk(zone, change - day, change + day * 2, 1);
            for text in ["30 0-3 * * *", "20 * * * *"] {
                compare(zone, text, &steps, &shown);
            }
        }
    }
}
