//! Instants as microseconds since 1970, with one text form: `2026-01-02T03:04:05.000006Z`.
//!
//! The text has a fixed width, so that its byte order is the order of time and SQLite can compare it.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// An instant in the years 1 to 9999, as microseconds since 1970-01-01T00:00:00Z.
///
/// ```
/// use backend_data::Micros;
///
/// let time = Micros::parse("2026-01-02 03:04:05+02").map(Micros::to_text);
/// assert_eq!(time.as_deref(), Some("2026-01-02T01:04:05.000000Z"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(i64);

/// 0001-01-01T00:00:00Z.
const FIRST: i64 = -62_135_596_800_000_000;
/// 9999-12-31T23:59:59.999999Z, the last instant with a four-digit year.
const LAST: i64 = 253_402_300_799_999_999;
const PER_SECOND: i64 = 1_000_000;
const PER_DAY: i64 = 86_400 * PER_SECOND;

impl Micros {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// Creates an instant from microseconds since 1970, or returns `None` outside the years 1 to 9999.
    #[must_use]
    pub fn new(micros: i64) -> Option<Self> {
        (FIRST..=LAST).contains(&micros).then_some(Self(micros))
    }

    /// Returns the microseconds since 1970; negative before.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }

    /// Parses an RFC 3339 timestamp, and the forms that PostgreSQL commonly accepts: a space for the `T`, an offset of
    /// hours alone, no seconds, no offset (UTC), no time (midnight).
    ///
    /// Digits beyond the microsecond are dropped. Returns `None` for any other text, for more than 48 bytes and outside
    /// the years 1 to 9999.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        const ZONED: [&str; 2] = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z"];
        const LOCAL: [&str; 4] =
            ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
        // Longer than any of the forms.
        if text.len() > 48 {
            return None;
        }
        let text = text.trim();
        let micros = if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            time.timestamp_micros()
        } else if let Some(time) = ZONED.iter().find_map(|f| DateTime::parse_from_str(text, f).ok()) {
            time.timestamp_micros()
        } else if let Some(time) = LOCAL.iter().find_map(|f| NaiveDateTime::parse_from_str(text, f).ok()) {
            time.and_utc().timestamp_micros()
        } else {
            let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
            date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_micros()
        };
        Self::new(micros)
    }

    /// Returns the instant as RFC 3339 text in UTC with six digits after the second: 27 characters.
    #[must_use]
    pub fn to_text(self) -> String {
        let mut text = Vec::with_capacity(27);
        self.write(&mut text);
        // The bytes are ASCII digits and punctuation.
        String::from_utf8(text).unwrap_or_default()
    }

    /// Appends the text of [`Micros::to_text`] to a buffer.
    pub fn write(self, out: &mut Vec<u8>) {
        let (days, rest) = (self.0.div_euclid(PER_DAY), self.0.rem_euclid(PER_DAY));
        let (year, month, day) = civil_from_days(days);
        let (seconds, micros) = (rest / PER_SECOND, rest % PER_SECOND);
        write_digits(out, year, 4);
        out.push(b'-');
        write_digits(out, month, 2);
        out.push(b'-');
        write_digits(out, day, 2);
        out.push(b'T');
        write_digits(out, seconds / 3600, 2);
        out.push(b':');
        write_digits(out, seconds / 60 % 60, 2);
        out.push(b':');
        write_digits(out, seconds % 60, 2);
        out.push(b'.');
        write_digits(out, micros, 6);
        out.push(b'Z');
    }
}

/// Converts days since 1970 to year, month and day (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn write_digits(out: &mut Vec<u8>, value: i64, width: u32) {
    for place in (0..width).rev() {
        let digit = value / 10_i64.pow(place) % 10;
        out.push(b'0' + u8::try_from(digit).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_accepted_form_is_the_same_instant() {
        for text in [
            "2026-11-21T10:28:00.123456Z",
            "2026-11-21t10:28:00.123456z",
            "2026-11-21 10:28:00.123456Z",
            "2026-11-21T12:28:00.123456+02:00",
            "2026-11-21 12:28:00.123456+02",
            "2026-11-21 10:28:00.123456",
            "2026-11-21T10:28:00.123456",
        ] {
            let parsed = Micros::parse(text).map(Micros::to_text);
            assert_eq!(parsed.as_deref(), Some("2026-11-21T10:28:00.123456Z"), "{text}");
        }
        assert_eq!(
            Micros::parse("2026-11-21").map(Micros::to_text).as_deref(),
            Some("2026-11-21T00:00:00.000000Z")
        );
        for bad in ["", "now", "2026-13-01", "infinity", "10000-01-01", "2026-02-30", "0000-12-31T23:59:59Z"]
        {
            assert_eq!(Micros::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips_and_keeps_the_order(a in FIRST..=LAST, b in FIRST..=LAST) {
            let (a, b) = (Micros(a), Micros(b));
            prop_assert_eq!(Micros::parse(&a.to_text()), Some(a));
            prop_assert_eq!(a.cmp(&b), a.to_text().cmp(&b.to_text()));
        }
    }
}
