//! What SQLite lacks: functions that give PostgreSQL's answers. A store registers them under the names that
//! compiled statements use; see [`crate::Dialect::Sqlite`].
//!
//! Documents are in the canonical form the engine writes, so that a fragment is cut out without reading the rest.

use std::{borrow::Cow, fmt::Write as _, sync::LazyLock};

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use crate::{catalog::ColumnType, json, query::Key, timestamp::Micros};

/// A way into a document, as statements bind it: `["name",0,-1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Vec<Key>);

impl JsonPath {
    /// Reads what `Steps::bound` wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let Json::Array(steps) = serde_json::from_str(text).ok()? else { return None };
        let step = |step| match step {
            Json::String(name) => Some(Key::Name(name)),
            Json::Number(index) => index.as_i64().map(Key::Index),
            _ => None,
        };
        steps.into_iter().map(step).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn encode<'k>(keys: impl Iterator<Item = &'k Key>) -> String {
        let steps: Vec<Json> = keys
            .map(|key| match key {
                Key::Name(name) => Json::from(name.as_str()),
                Key::Index(index) => Json::from(*index),
            })
            .collect();
        Json::Array(steps).to_string()
    }
}

/// The fragment at the end of the way (`->`); nothing where the document has none.
#[must_use]
pub fn json_get<'d>(document: &'d str, steps: &JsonPath) -> Option<&'d str> {
    steps.0.iter().try_fold(document, |fragment, key| match key {
        Key::Name(name) => member(fragment, name),
        Key::Index(index) => element(fragment, *index),
    })
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Members<'d>(#[serde(borrow)] std::collections::HashMap<Cow<'d, str>, &'d RawValue>);

fn member<'d>(fragment: &'d str, name: &str) -> Option<&'d str> {
    if !fragment.starts_with('{') {
        return None;
    }
    let Members(members) = serde_json::from_str(fragment).ok()?;
    members.get(name).map(|value| value.get())
}

fn element(fragment: &str, index: i64) -> Option<&str> {
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let at = |length: usize| usize::try_from(if index < 0 { index + count(length) } else { index }).ok();
    match fragment.as_bytes().first()? {
        b'{' => None,
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(fragment).ok()?;
            items.get(at(items.len())?).map(|item| item.get())
        }
        // PostgreSQL keeps a scalar as an array of one.
        _ => (at(1)? == 0).then_some(fragment),
    }
}

/// A fragment as text (`->>`): a string without its quotes, nothing for null, else the text PostgreSQL gives.
#[must_use]
pub fn json_text(fragment: &str) -> Option<String> {
    match fragment.as_bytes().first() {
        Some(b'"') => serde_json::from_str(fragment).ok(),
        Some(b'n') => None,
        _ => Some(jsonb_text(fragment)),
    }
}

/// The text of `jsonb`: a blank after each comma and colon.
fn jsonb_text(document: &str) -> String {
    let mut out = String::with_capacity(document.len() + 8);
    let (mut in_text, mut escaped) = (false, false);
    for c in document.chars() {
        out.push(c);
        if in_text {
            in_text = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            in_text = c == '"';
            if matches!(c, ',' | ':') {
                out.push(' ');
            }
        }
    }
    out
}

/// Bytes that sort as documents do: null, text, numbers, booleans, arrays, objects; text, arrays and objects by
/// their bytes, numbers by value.
#[must_use]
pub fn json_order(fragment: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(fragment.len() + 1);
    match fragment.as_bytes().first() {
        Some(b'n') | None => key.push(0),
        Some(b'"') => {
            key.push(1);
            let text: String = serde_json::from_str(fragment).unwrap_or_default();
            key.extend_from_slice(text.as_bytes());
        }
        Some(b't' | b'f') => {
            key.push(3);
            key.extend_from_slice(fragment.as_bytes());
        }
        Some(b'[') => {
            key.push(4);
            key.extend_from_slice(fragment.as_bytes());
        }
        Some(b'{') => {
            key.push(5);
            key.extend_from_slice(fragment.as_bytes());
        }
        Some(_) => {
            key.push(2);
            let near: f64 = fragment.parse().unwrap_or_default();
            let bits = near.to_bits();
            let ordered = if bits >> 63 == 1 { !bits } else { bits | (1 << 63) };
            key.extend_from_slice(&ordered.to_be_bytes());
            // What the nearest floating point number leaves over of a large integer.
            let left = fragment.parse::<i128>().map_or(0, |exact| exact - to_i128(near));
            let left = i64::try_from(left).unwrap_or_default();
            key.extend_from_slice(&(left.cast_unsigned() ^ (1 << 63)).to_be_bytes());
        }
    }
    key
}

fn to_i128(number: f64) -> i128 {
    // `as` saturates, and nothing that was read from an integer is out of range.
    number as i128
}

/// Whether `outer` contains `inner` (`@>`); nothing when it was late before that was known. To find each member of one
/// array in another takes as many comparisons as the product of their lengths.
pub fn json_contains(outer: &str, inner: &str, late: impl Fn() -> bool) -> Option<bool> {
    let read = |text| serde_json::from_str::<Json>(text).ok();
    let Some((outer, inner)) = read(outer).zip(read(inner)) else { return Some(false) };
    match (&outer, &inner) {
        // Alone at the top, a scalar counts as a member.
        (Json::Array(members), Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => {
            Some(members.contains(&inner))
        }
        _ => ContainmentCheck { compared: 0, is_late: late }.contains(&outer, &inner),
    }
}

/// A search that looks at the clock.
struct ContainmentCheck<L> {
    compared: u32,
    is_late: L,
}

impl<L: Fn() -> bool> ContainmentCheck<L> {
    /// How many values are compared between two looks at the clock.
    const CHECK_INTERVAL: u32 = 4_096;

    fn contains(&mut self, outer: &Json, inner: &Json) -> Option<bool> {
        self.compared = self.compared.wrapping_add(1);
        if self.compared.is_multiple_of(Self::CHECK_INTERVAL) && (self.is_late)() {
            return None;
        }
        match (outer, inner) {
            (Json::Object(outer), Json::Object(inner)) => {
                for (key, wanted) in inner {
                    let Some(found) = outer.get(key) else { return Some(false) };
                    if !self.contains(found, wanted)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            (Json::Array(outer), Json::Array(inner)) => {
                for wanted in inner {
                    let mut is_found = false;
                    for found in outer {
                        is_found = self.contains(found, wanted)?;
                        if is_found {
                            break;
                        }
                    }
                    if !is_found {
                        return Some(false);
                    }
                }
                Some(true)
            }
            _ => Some(outer == inner),
        }
    }
}

/// A value of a column, as SQLite keeps it.
#[derive(Clone, Debug, PartialEq)]
pub enum SqliteValue<'v> {
    /// Text, a time or a document.
    Text(Cow<'v, str>),
    /// An integer or a boolean.
    Integer(i64),
    /// A floating point number.
    Real(f64),
    /// Nothing.
    Null,
}

/// The longest text in bytes that is cast to a document: its numbers may become fifty times as long.
pub(crate) const MAX_CAST: usize = 64 * 1024;

/// Casts a value of one type to another, as PostgreSQL does.
///
/// # Errors
/// When the value has no form of that type.
pub fn cast<'v>(
    value: SqliteValue<'v>,
    from: ColumnType,
    to: ColumnType,
) -> Result<SqliteValue<'v>, CannotCast> {
    use ColumnType::{Boolean, Integer, Json as Document, Real, Text, Timestamp};
    let owned = |text: String| SqliteValue::Text(Cow::Owned(text));
    Ok(match (value, from, to) {
        (SqliteValue::Null, ..) => SqliteValue::Null,
        (value, from, to) if from == to => value,
        (SqliteValue::Text(text), Text, Integer) => {
            SqliteValue::Integer(text.trim().parse().map_err(|_| CannotCast)?)
        }
        (SqliteValue::Text(text), Text, Real) => {
            // What is not a finite number is shown as null.
            let number: f64 = text.trim().parse().map_err(|_| CannotCast)?;
            if number.is_finite() { SqliteValue::Real(number) } else { SqliteValue::Null }
        }
        (SqliteValue::Text(text), Text, Boolean) => {
            SqliteValue::Integer(parse_boolean(&text).ok_or(CannotCast)?.into())
        }
        (SqliteValue::Text(text), Text, Timestamp) => {
            let time = is_timestamp_text(&text).then(|| Micros::parse(&text)).flatten().ok_or(CannotCast)?;
            owned(time.to_text())
        }
        (SqliteValue::Text(text), Text, Document) if text.len() > MAX_CAST => return Err(CannotCast),
        (SqliteValue::Text(text), Text, Document) => {
            owned(json::canonicalize(&text).map_err(|_| CannotCast)?)
        }
        (SqliteValue::Integer(number), Integer, Text) => owned(number.to_string()),
        (SqliteValue::Integer(number), Integer, Real) => SqliteValue::Real(number as f64),
        (SqliteValue::Integer(number), Integer, Boolean) => SqliteValue::Integer((number != 0).into()),
        (SqliteValue::Integer(number), Integer, Document) => owned(number.to_string()),
        (SqliteValue::Real(number), Real, Text) => owned(real_text(number)),
        (SqliteValue::Real(number), Real, Integer) => to_integer(number.round_ties_even())?,
        (SqliteValue::Real(number), Real, Document) => owned(number.to_string()),
        (SqliteValue::Integer(truth), Boolean, Text | Document) => {
            SqliteValue::Text(if truth == 0 { "false" } else { "true" }.into())
        }
        (SqliteValue::Integer(truth), Boolean, Integer) => SqliteValue::Integer((truth != 0).into()),
        (SqliteValue::Text(text), Timestamp, Text) => SqliteValue::Text(text),
        (SqliteValue::Text(text), Timestamp, Document) => owned(Json::from(&*text).to_string()),
        (SqliteValue::Text(text), Document, Text) => owned(jsonb_text(&text)),
        (SqliteValue::Text(text), Document, to) => return cast_document(&text, to),
        _ => return Err(CannotCast),
    })
}

/// Which text may be cast to a time: a date, or a date and a time, with an offset or in UTC. Read alike by PostgreSQL.
pub(crate) const TIME: &str = concat!(
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?$",
);

fn is_timestamp_text(text: &str) -> bool {
    static TIMESTAMP_REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TIME).ok());
    TIMESTAMP_REGEX.as_ref().is_some_and(|times| times.is_match(text))
}

fn cast_document(text: &str, to: ColumnType) -> Result<SqliteValue<'static>, CannotCast> {
    let number = |text: &str| text.parse::<f64>().map_err(|_| CannotCast);
    match (text.as_bytes().first(), to) {
        (Some(b'n'), _) => Ok(SqliteValue::Null),
        (Some(b't' | b'f'), ColumnType::Boolean) => Ok(SqliteValue::Integer((text == "true").into())),
        (Some(b'-' | b'0'..=b'9'), ColumnType::Integer) => match text.parse() {
            Ok(exact) => Ok(SqliteValue::Integer(exact)),
            Err(_) => to_integer(number(text)?.round()),
        },
        (Some(b'-' | b'0'..=b'9'), ColumnType::Real) => Ok(SqliteValue::Real(number(text)?)),
        _ => Err(CannotCast),
    }
}

/// A rounded number as an integer, where it is one of 64 bits.
fn to_integer(number: f64) -> Result<SqliteValue<'static>, CannotCast> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if (-END..END).contains(&number) { Ok(SqliteValue::Integer(number as i64)) } else { Err(CannotCast) }
}

/// A boolean as PostgreSQL reads it: any beginning of a word that is not one of another.
fn parse_boolean(text: &str) -> Option<bool> {
    let text = text.trim().to_ascii_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    if begins("true", 1) || begins("yes", 1) || text == "on" || text == "1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0" {
        Some(false)
    } else {
        None
    }
}

/// A floating point number as PostgreSQL writes it: the shortest digits, with an exponent below 1e-4 and from 1e15.
fn real_text(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..15).contains(&exponent) {
        return number.to_string();
    }
    let mut text = String::with_capacity(scientific.len() + 2);
    let sign = if exponent < 0 { '-' } else { '+' };
    // Writing to a string does not fail.
    let _ = write!(text, "{digits}e{sign}{:02}", exponent.unsigned_abs());
    text
}

/// A value has no form of the type it is cast to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value does not fit the cast")]
pub struct CannotCast;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_into_documents() {
        let document = r#"{"a":[1,{"b c":"x\"y"},null],"s":"text"}"#;
        for (steps, wanted) in [
            (r#"["a"]"#, Some(r#"[1,{"b c":"x\"y"},null]"#)),
            (r#"["a",1,"b c"]"#, Some(r#""x\"y""#)),
            (r#"["a",-1]"#, Some("null")),
            (r#"["a",-4]"#, None),
            (r#"["a","0"]"#, None),
            (r#"["s",0]"#, Some(r#""text""#)),
            (r#"["s",1]"#, None),
            (r#"["z"]"#, None),
        ] {
            assert_eq!(json_get(document, &JsonPath::parse(steps).unwrap()), wanted, "{steps}");
        }
        assert_eq!(json_text(r#""x\"y""#).as_deref(), Some("x\"y"));
        assert_eq!(json_text(r#"{"a":[1,", :"]}"#).as_deref(), Some(r#"{"a": [1, ", :"]}"#));
        assert_eq!(json_text("null"), None);
    }

    #[test]
    fn documents_have_an_order() {
        let ordered = [
            "null",
            r#""""#,
            r#""10""#,
            r#""9""#,
            "-9223372036854775808",
            "-1.5",
            "0",
            "0.5",
            "10",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
            "false",
            "true",
            "[1,2]",
            "[1]",
            r#"{"a":1}"#,
        ];
        for pair in ordered.windows(2) {
            assert!(json_order(pair[0]) < json_order(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn documents_contain_others() {
        for (outer, inner, wanted) in [
            (r#"{"a":1,"b":{"c":[1,2]}}"#, r#"{"b":{"c":[2]}}"#, true),
            (r#"{"a":1}"#, r#"{"a":2}"#, false),
            ("[1,2,[3]]", "[2,2]", true),
            ("[1,[2]]", "[2]", false),
            (r#"["x"]"#, r#""x""#, true),
            (r#""x""#, r#"["x"]"#, false),
            (r#"{"a":[1]}"#, r#"{"a":1}"#, false),
            ("{}", "[]", false),
            ("1", "1", true),
        ] {
            assert_eq!(json_contains(outer, inner, || false), Some(wanted), "{outer} @> {inner}");
        }
        let many = |from: u32| Json::from((from..from + 3_000).collect::<Vec<_>>()).to_string();
        assert_eq!(json_contains(&many(0), &many(1), || true), None);
    }

    #[test]
    fn text_is_cast_to_times_and_documents() {
        let cast = |text: &'static str, to| match cast(SqliteValue::Text(text.into()), ColumnType::Text, to) {
            Ok(SqliteValue::Text(text)) => text.into_owned(),
            other => format!("{other:?}"),
        };
        for (text, wanted) in [
            ("2026-01-02", "2026-01-02T00:00:00.000000Z"),
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000000Z"),
            ("2026-01-02T03:04:05.5+05:00", "2026-01-01T22:04:05.500000Z"),
            ("9999-12-31T23:59:59-01:00", "Err(CannotCast)"),
            ("2026-02-30", "Err(CannotCast)"),
            ("2026-01-02T23:59:60Z", "Err(CannotCast)"),
            ("2026-01-02 03:04", "Err(CannotCast)"),
            ("now", "Err(CannotCast)"),
        ] {
            assert_eq!(cast(text, ColumnType::Timestamp), wanted, "{text}");
        }
        assert_eq!(cast(r#"{ "b": 1, "a": [2 ] }"#, ColumnType::Json), r#"{"a":[2],"b":1}"#);
        assert_eq!(cast("{", ColumnType::Json), "Err(CannotCast)");
    }

    #[test]
    fn numbers_are_written_as_postgresql_writes_them() {
        for (number, wanted) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (1e300, "1e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.25e-7, "-1.25e-07"),
        ] {
            assert_eq!(real_text(number), wanted);
        }
    }
}
