//! Time zones of the IANA database, as chrono-tz has them.

use chrono::{DateTime, Datelike as _, NaiveDate, Offset as _, TimeZone as _};
use chrono_tz::{OffsetName as _, TZ_VARIANTS, Tz};

/// Returns the name of a zone as the database writes it, whatever the case of the letters.
pub(super) fn find_name(name: &str) -> Option<&'static str> {
    find(name).map(Tz::name)
}

fn find(name: &str) -> Option<Tz> {
    let exact = name.parse().ok();
    exact.or_else(|| TZ_VARIANTS.into_iter().find(|zone| zone.name().eq_ignore_ascii_case(name)))
}

/// Milliseconds from 1970 to 2100, where the tables end: from then on they have no daylight saving.
const TABLES_END: i64 = 4_102_444_800_000;
/// Years whose rules go on for ever: as many as it takes for 1 January and 1 March to be each day of the week. Some zones have
/// exceptions until 2087.
const LAST_YEARS: std::ops::RangeInclusive<i32> = 2089..=2099;
/// Milliseconds in the 400 years after which the Gregorian calendar repeats, on the same days of the week.
const CALENDAR_CYCLE: i64 = 146_097 * 86_400_000;

/// Returns the time of [`LAST_YEARS`] at which the rules of every zone give what they give at a time after the tables: the same
/// number of days after a 1 January or 1 March on the same day of the week.
fn equivalent_time(millis: i64) -> Option<i64> {
    let in_cycle = (millis - TABLES_END).rem_euclid(CALENDAR_CYCLE);
    let date = DateTime::from_timestamp_millis(TABLES_END + in_cycle)?.date_naive();
    // The leap day is over in March: no two years need to be leap years together.
    let month = if date.month() < 3 { 1 } else { 3 };
    let start_of = |year| NaiveDate::from_ymd_opt(year, month, 1);
    let start = start_of(date.year())?;
    let equivalent = LAST_YEARS.filter_map(start_of).find(|other| other.weekday() == start.weekday())?;
    Some(TABLES_END + in_cycle - (start - equivalent).num_milliseconds())
}

/// Returns the seconds that a zone is ahead of UTC at a time in milliseconds, and what it is called then. The first
/// years that a `Date` may have are before what the database knows: the nearest that it knows counts.
#[expect(clippy::cast_possible_truncation, reason = "a date is a whole number that fits")]
pub(super) fn offset_at(name: &str, millis: f64) -> Option<(i32, String)> {
    let zone = find(name)?;
    let millis = (millis as i64).max(DateTime::<chrono::Utc>::MIN_UTC.timestamp_millis());
    let known = if millis < TABLES_END { millis } else { equivalent_time(millis)? };
    let time = DateTime::from_timestamp_millis(known)?;
    let offset = zone.offset_from_utc_datetime(&time.naive_utc());
    Some((offset.fix().local_minus_utc(), offset.abbreviation().unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_has_an_offset_at_every_time() {
        for zone in TZ_VARIANTS {
            assert_eq!(find_name(&zone.name().to_ascii_uppercase()), Some(zone.name()));
            for millis in [-8.64e15, -3e12, 0.0, 1.7e12, 4e12, 8.64e15] {
                let (offset, _) = offset_at(zone.name(), millis).unwrap();
                assert!(offset.abs() <= 16 * 3600, "{} {millis} {offset}", zone.name());
            }
        }
        assert_eq!(find_name("Mars/Olympus"), None);
    }

    /// Seconds ahead of UTC before and after each transition of a year, as Node.js 20 has them.
    #[test]
    fn daylight_saving_goes_on_after_the_tables() {
        for (zone, transitions) in [
            (
                "America/New_York",
                vec![
                    ("2099-03-08T07:00:00Z", -18000, -14400),
                    ("2099-11-01T06:00:00Z", -14400, -18000),
                    ("2100-03-14T07:00:00Z", -18000, -14400),
                    ("2100-11-07T06:00:00Z", -14400, -18000),
                    ("2101-03-13T07:00:00Z", -18000, -14400),
                    ("2101-11-06T06:00:00Z", -14400, -18000),
                    ("2104-03-09T07:00:00Z", -18000, -14400),
                    ("2104-11-02T06:00:00Z", -14400, -18000),
                    ("2400-03-12T07:00:00Z", -18000, -14400),
                    ("2400-11-05T06:00:00Z", -14400, -18000),
                    ("2500-03-14T07:00:00Z", -18000, -14400),
                    ("2500-11-07T06:00:00Z", -14400, -18000),
                ],
            ),
            (
                "Europe/London",
                vec![
                    ("2099-03-29T01:00:00Z", 0, 3600),
                    ("2099-10-25T01:00:00Z", 3600, 0),
                    ("2100-03-28T01:00:00Z", 0, 3600),
                    ("2100-10-31T01:00:00Z", 3600, 0),
                    ("2101-03-27T01:00:00Z", 0, 3600),
                    ("2101-10-30T01:00:00Z", 3600, 0),
                    ("2104-03-30T01:00:00Z", 0, 3600),
                    ("2104-10-26T01:00:00Z", 3600, 0),
                    ("2400-03-26T01:00:00Z", 0, 3600),
                    ("2400-10-29T01:00:00Z", 3600, 0),
                    ("2500-03-28T01:00:00Z", 0, 3600),
                    ("2500-10-31T01:00:00Z", 3600, 0),
                ],
            ),
            (
                "Australia/Lord_Howe",
                vec![
                    ("2099-04-04T15:00:00Z", 39600, 37800),
                    ("2099-10-03T15:30:00Z", 37800, 39600),
                    ("2100-04-03T15:00:00Z", 39600, 37800),
                    ("2100-10-02T15:30:00Z", 37800, 39600),
                    ("2101-04-02T15:00:00Z", 39600, 37800),
                    ("2101-10-01T15:30:00Z", 37800, 39600),
                    ("2104-04-05T15:00:00Z", 39600, 37800),
                    ("2104-10-04T15:30:00Z", 37800, 39600),
                    ("2400-04-01T15:00:00Z", 39600, 37800),
                    ("2400-09-30T15:30:00Z", 37800, 39600),
                    ("2500-04-03T15:00:00Z", 39600, 37800),
                    ("2500-10-02T15:30:00Z", 37800, 39600),
                ],
            ),
            (
                "Pacific/Chatham",
                vec![
                    ("2099-04-04T14:00:00Z", 49500, 45900),
                    ("2099-09-26T14:00:00Z", 45900, 49500),
                    ("2100-04-03T14:00:00Z", 49500, 45900),
                    ("2100-09-25T14:00:00Z", 45900, 49500),
                    ("2101-04-02T14:00:00Z", 49500, 45900),
                    ("2101-09-24T14:00:00Z", 45900, 49500),
                    ("2104-04-05T14:00:00Z", 49500, 45900),
                    ("2104-09-27T14:00:00Z", 45900, 49500),
                    ("2400-04-01T14:00:00Z", 49500, 45900),
                    ("2400-09-23T14:00:00Z", 45900, 49500),
                    ("2500-04-03T14:00:00Z", 49500, 45900),
                    ("2500-09-25T14:00:00Z", 45900, 49500),
                ],
            ),
            (
                "Antarctica/Troll",
                vec![
                    ("2099-03-29T01:00:00Z", 0, 7200),
                    ("2099-10-25T01:00:00Z", 7200, 0),
                    ("2100-03-28T01:00:00Z", 0, 7200),
                    ("2100-10-31T01:00:00Z", 7200, 0),
                    ("2101-03-27T01:00:00Z", 0, 7200),
                    ("2101-10-30T01:00:00Z", 7200, 0),
                    ("2104-03-30T01:00:00Z", 0, 7200),
                    ("2104-10-26T01:00:00Z", 7200, 0),
                    ("2400-03-26T01:00:00Z", 0, 7200),
                    ("2400-10-29T01:00:00Z", 7200, 0),
                    ("2500-03-28T01:00:00Z", 0, 7200),
                    ("2500-10-31T01:00:00Z", 7200, 0),
                ],
            ),
            (
                "Asia/Gaza",
                vec![
                    ("2099-03-28T00:00:00Z", 7200, 10800),
                    ("2099-10-23T23:00:00Z", 10800, 7200),
                    ("2100-03-27T00:00:00Z", 7200, 10800),
                    ("2100-10-29T23:00:00Z", 10800, 7200),
                    ("2101-03-26T00:00:00Z", 7200, 10800),
                    ("2101-10-28T23:00:00Z", 10800, 7200),
                    ("2104-03-29T00:00:00Z", 7200, 10800),
                    ("2104-10-24T23:00:00Z", 10800, 7200),
                    ("2400-03-25T00:00:00Z", 7200, 10800),
                    ("2400-10-27T23:00:00Z", 10800, 7200),
                    ("2500-03-27T00:00:00Z", 7200, 10800),
                    ("2500-10-29T23:00:00Z", 10800, 7200),
                ],
            ),
        ] {
            for (time, before, after) in transitions {
                let millis = DateTime::parse_from_rfc3339(time).unwrap().timestamp_millis();
                #[expect(clippy::cast_precision_loss, reason = "the number is small")]
                let offset = |millis: i64| offset_at(zone, millis as f64).unwrap().0;
                assert_eq!((offset(millis - 1), offset(millis)), (before, after), "{zone} {time}");
            }
        }
    }

    /// The calendar of the years from 2100 on repeats after 400 years, and so do the offsets.
    #[test]
    fn the_last_years_stand_for_all_later_ones() {
        for zone in
            ["America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Asia/Gaza", "Asia/Almaty"]
        {
            for day in 0..146_097 {
                let millis = TABLES_END + day * 86_400_000;
                let equivalent = equivalent_time(millis).unwrap();
                let [time, other] =
                    [millis, equivalent].map(|at| DateTime::from_timestamp_millis(at).unwrap());
                assert!(LAST_YEARS.contains(&other.year()), "{time} {other}");
                assert_eq!(time.weekday(), other.weekday(), "{time} {other}");
                assert!(time.ordinal().abs_diff(other.ordinal()) <= 1, "{time} {other}");
            }
            #[expect(clippy::cast_precision_loss, reason = "the number is small")]
            let offset =
                |cycles: i64| offset_at(zone, (TABLES_END + 15_000_000_000 + cycles * CALENDAR_CYCLE) as f64);
            assert_eq!(offset(0), offset(1), "{zone}");
            assert_eq!(offset(0), offset(600), "{zone}");
        }
    }
}
