use chrono::TimeDelta;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns the occurrences in (`from`, `to`], as text without the seconds.
fn occurrences(cron: &str, zone: &str, from: &str, to: &str) -> Vec<String> {
    let schedule = Schedule::parse(cron, Some(zone)).unwrap();
    let mut found = Vec::new();
    let mut next = schedule.next_after(at(from));
    while let Some(time) = next.filter(|time| *time <= at(to)) {
        found.push(time.format("%d %H:%M").to_string());
        next = schedule.next_after(time);
    }
    found
}

#[test]
fn a_schedule_fires_in_its_own_time_zone() {
    let schedule = Schedule::parse("30 9 * * 1", Some("Asia/Almaty")).unwrap();
    // Almaty is at UTC+5 all year.
    assert_eq!(schedule.next_after(at("2026-11-20T00:00:00Z")), Some(at("2026-11-23T04:30:00Z")));
    assert_eq!(schedule.next_after(at("2026-11-23T04:30:00Z")), Some(at("2026-11-30T04:30:00Z")));
}

/// New York's clocks go from 02:00 to 03:00 at 07:00 UTC on 14 March 2027.
#[test]
fn named_hours_that_are_skipped_fire_right_after_the_gap() {
    for (cron, expected) in [
        ("30 2 * * *", &["13 07:30", "14 07:00", "15 06:30"][..]),
        ("0 2 * * *", &["13 07:00", "14 07:00", "15 06:00"]),
        ("30 2 * * 0", &["14 07:00"]),
        ("0 2,14 * * *", &["13 07:00", "13 19:00", "14 07:00", "14 18:00", "15 06:00"]),
        ("0,30 2 * * *", &["13 07:00", "13 07:30", "14 07:00", "15 06:00", "15 06:30"]),
        ("*/30 2 * * *", &["13 07:00", "13 07:30", "14 07:00", "15 06:00", "15 06:30"]),
        ("59 1-3/2 * * 0", &["14 06:59", "14 07:59"]),
        ("0 2-3 * * 0", &["14 07:00"]),
        ("15 2-3 14 3 *", &["14 07:00", "14 07:15"]),
    ] {
        let found = occurrences(cron, "America/New_York", "2027-03-13T05:00:00Z", "2027-03-15T16:00:00Z");
        assert_eq!(found, expected, "{cron}");
    }
}

/// New York's clocks go from 02:00 back to 01:00 at 06:00 UTC on 7 November 2027.
#[test]
fn named_hours_that_are_repeated_fire_the_first_time() {
    for (cron, expected) in [
        ("0 1,13 * * *", &["07 05:00", "07 18:00"][..]),
        ("0,30 1 * * *", &["07 05:00", "07 05:30"]),
        ("*/30 1 * * *", &["07 05:00", "07 05:30"]),
        ("30 0-2 * * *", &["07 04:30", "07 05:30", "07 07:30"]),
        ("0 0,1,2 * * 0", &["07 04:00", "07 05:00", "07 07:00"]),
    ] {
        let found = occurrences(cron, "America/New_York", "2027-11-07T03:30:00Z", "2027-11-08T04:30:00Z");
        assert_eq!(found, expected, "{cron}");
    }
}

#[test]
fn a_star_in_the_hour_follows_what_the_clocks_show() {
    let hours = |cron| occurrences(cron, "America/New_York", "2027-11-07T03:30:00Z", "2027-11-07T08:30:00Z");
    assert_eq!(hours("30 * * * *"), ["07 04:30", "07 05:30", "07 06:30", "07 07:30", "07 08:30"]);
    assert_eq!(hours("0 */2 * * *"), ["07 04:00", "07 07:00"]);
    let berlin = |cron| occurrences(cron, "Europe/Berlin", "2026-10-24T23:30:00Z", "2026-10-25T03:30:00Z");
    assert_eq!(berlin("0 */2 * * *"), ["25 00:00", "25 01:00", "25 03:00"]);
    let spring = |cron| occurrences(cron, "America/New_York", "2027-03-14T05:30:00Z", "2027-03-14T08:30:00Z");
    assert_eq!(spring("30 * * * *"), ["14 06:30", "14 07:30", "14 08:30"]);
    assert_eq!(spring("0 */2 * * *"), ["14 08:00"]);
    assert!(spring("0 1-23/2 * * *").contains(&"14 06:00".to_owned()));
}

#[test]
fn half_hours_midnights_and_whole_days_are_changes_too() {
    // Lord Howe goes from 02:00 to 02:30 at 15:30 UTC, and from 02:00 back to 01:30 at 15:00 UTC.
    let howe = |cron, from, to| occurrences(cron, "Australia/Lord_Howe", from, to);
    let (spring, after) = ("2026-10-03T14:00:00Z", "2026-10-03T17:00:00Z");
    assert_eq!(howe("15,45 2 * * *", spring, after), ["03 15:30", "03 15:45"]);
    let (autumn, after) = ("2027-04-03T14:00:00Z", "2027-04-03T17:00:00Z");
    assert_eq!(howe("45 1 * * *", autumn, after), ["03 14:45"]);
    assert_eq!(howe("45 * * * *", autumn, after), ["03 14:45", "03 15:15", "03 16:15"]);
    // Beirut has no midnight on 29 March 2026, and two hours before midnight on 24 October.
    let beirut = |from, to| occurrences("0 0 * * *", "Asia/Beirut", from, to);
    assert_eq!(beirut("2026-03-27T22:00:01Z", "2026-03-29T22:00:00Z"), ["28 22:00", "29 21:00"]);
    let late = occurrences("30 23 * * *", "Asia/Beirut", "2026-10-24T12:00:00Z", "2026-10-25T22:00:00Z");
    assert_eq!(late, ["24 20:30", "25 21:30"]);
    // Apia had no 30 December in 2011: it went from midnight to midnight of the 31st at 10:00 UTC.
    let apia = |cron| occurrences(cron, "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z");
    assert_eq!(apia("0 9 * * *"), ["29 19:00", "30 10:00", "30 19:00"]);
    assert_eq!(apia("0 9 30 12 *"), ["30 10:00"]);
    assert_eq!(apia("0 */12 * * *"), ["29 22:00", "30 10:00", "30 22:00", "31 10:00"]);
    assert_eq!(apia("0 * 30 12 *"), Vec::<String>::new());
}

#[test]
fn both_day_fields_must_match_when_one_begins_with_a_star() {
    let days = |cron| occurrences(cron, "UTC", "2026-11-01T00:00:01Z", "2026-11-15T12:00:00Z");
    assert_eq!(days("0 0 13 * 5"), ["06 00:00", "13 00:00"]);
    assert_eq!(days("0 0 */2 * 1"), ["09 00:00"]);
    assert_eq!(days("0 0 1-7 * */2"), ["03 00:00", "05 00:00", "07 00:00"]);
    assert_eq!(
        days("0 0 1-7 * 1,2"),
        ["02 00:00", "03 00:00", "04 00:00", "05 00:00", "06 00:00", "07 00:00", "09 00:00", "10 00:00"]
    );
}

#[test]
fn a_schedule_that_is_created_while_an_hour_repeats_waits_for_a_new_time() {
    let half_past = Schedule::parse("30 1 * * *", Some("America/New_York")).unwrap();
    let repeated = at("2027-11-07T06:10:00Z");
    assert_eq!(half_past.next_after(repeated), Some(at("2027-11-08T06:30:00Z")));
    assert_eq!(half_past.next_after(repeated - TimeDelta::hours(1)), Some(at("2027-11-07T05:30:00Z")));
}

#[test]
fn an_invalid_expression_is_refused() {
    for cron in
        ["", "* * * *", "* * * * * *", "61 * * * *", "x * * * *", "0 0 31 2 *", "5-1 * * * *", "*/0 * * * *"]
    {
        assert!(Schedule::parse(cron, None).is_err(), "{cron:?}");
    }
    assert!(Schedule::parse("* * * * *", Some("Mars/Base")).is_err());
}

#[test]
fn days_are_found_from_the_end_of_a_month_and_by_weekday() {
    let days = |cron| occurrences(cron, "UTC", "2026-08-01T00:00:00Z", "2026-08-31T23:59:00Z");
    // August 2026 begins on a Saturday.
    for (cron, expected) in [
        ("0 9 L * *", &["31 09:00"][..]),
        ("0 9 15W * *", &["14 09:00"]),
        ("0 9 1W * *", &["03 09:00"]),
        ("0 9 LW * *", &["31 09:00"]),
        ("0 9 * * 5L", &["28 09:00"]),
        ("0 9 * * fril", &["28 09:00"]),
        ("0 9 * * MON#1", &["03 09:00"]),
        ("0 9 * * 0#5", &["30 09:00"]),
        (
            "0 9 ? * SAT-SUN",
            &[
                "01 09:00", "02 09:00", "08 09:00", "09 09:00", "15 09:00", "16 09:00", "22 09:00",
                "23 09:00", "29 09:00", "30 09:00",
            ],
        ),
        ("0 9 31 JUL-AUG ?", &["31 09:00"]),
        ("0 */24 2 * *", &["02 00:00"]),
    ] {
        assert_eq!(days(cron), expected, "{cron}");
    }
    let (may, june) = ("2026-05-01T00:00:01Z", "2026-06-01T00:00:00Z");
    assert_eq!(occurrences("0 9 LW * *", "UTC", may, june), ["29 09:00"], "31 May is a Sunday");
}
