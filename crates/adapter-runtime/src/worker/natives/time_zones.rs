//! Time zones of the IANA database, as chrono-tz has them.

use chrono::{DateTime, Offset as _, TimeZone as _};
use chrono_tz::{OffsetName as _, TZ_VARIANTS, Tz};

/// Returns the name of a zone as the database writes it, whatever the case of the letters.
pub(super) fn find_name(name: &str) -> Option<&'static str> {
    find(name).map(Tz::name)
}

fn find(name: &str) -> Option<Tz> {
    let exact = name.parse().ok();
    exact.or_else(|| TZ_VARIANTS.into_iter().find(|zone| zone.name().eq_ignore_ascii_case(name)))
}

/// Returns the seconds that a zone is ahead of UTC at a time in milliseconds, and what it is called then. The first and the
/// last years that a `Date` may have are beyond what the database knows: the nearest that it knows counts.
#[expect(clippy::cast_possible_truncation, reason = "a date is a whole number that fits")]
pub(super) fn offset_at(name: &str, millis: f64) -> Option<(i32, String)> {
    let zone = find(name)?;
    let limits = [DateTime::<chrono::Utc>::MIN_UTC, DateTime::<chrono::Utc>::MAX_UTC];
    let [first, last] = limits.map(|limit| limit.timestamp_millis());
    let time = DateTime::from_timestamp_millis((millis as i64).clamp(first, last))?;
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
}
