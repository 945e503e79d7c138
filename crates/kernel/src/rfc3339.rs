//! Moments on the wire: RFC 3339 in UTC, always with milliseconds, so that all have one length and sort as text.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serializer;

/// A moment as text.
pub fn to_rfc3339(at: &DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Writes a moment.
pub fn millis<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&to_rfc3339(at))
}

/// Writes a moment, or null.
pub fn millis_or_null<S: Serializer>(at: &Option<DateTime<Utc>>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => millis(at, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    struct Times {
        #[serde(serialize_with = "millis")]
        at: DateTime<Utc>,
        #[serde(serialize_with = "millis_or_null")]
        until: Option<DateTime<Utc>>,
    }

    #[test]
    fn a_moment_always_has_milliseconds() {
        for (millis, shown) in [(0, "00.000Z"), (5_000, "05.000Z"), (5_680, "05.680Z"), (5_685, "05.685Z")] {
            let at = DateTime::from_timestamp_millis(millis).unwrap();
            let json = serde_json::to_value(Times { at, until: Some(at) }).unwrap();
            for name in ["at", "until"] {
                assert_eq!(json[name], format!("1970-01-01T00:00:{shown}"));
            }
        }
        let none = Times { at: DateTime::UNIX_EPOCH, until: None };
        assert_eq!(serde_json::to_value(none).unwrap()["until"], serde_json::Value::Null);
    }
}
