//! SQL functions that SQLite lacks, with the results that PostgreSQL has. A store over SQLite registers them under the
//! names of [`Dialect::Sqlite`](crate::Dialect::Sqlite).
//!
//! Documents are JSON in the canonical form of [`Value::Json`](crate::Value::Json), so that a fragment is a slice of
//! its document.
//!
//! ```
//! use backend_data::functions::{JsonPath, json_get, json_text};
//!
//! let document = r#"{"tags":["hot","green"]}"#;
//! let last_tag = JsonPath::parse(r#"["tags",-1]"#).and_then(|path| json_get(document, &path));
//! assert_eq!(last_tag, Some("\"green\""));
//! assert_eq!(last_tag.and_then(json_text).as_deref(), Some("green"));
//! ```

use std::{borrow::Cow, fmt::Write as _, sync::LazyLock};

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use crate::{catalog::ColumnType, json, query::Key, timestamp::Micros};

/// A path into a document: the names of members and the positions of elements, from the end if negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Vec<Key>);

impl JsonPath {
    /// Parses a path as statements bind it, a JSON array such as `["name",0,-1]`.
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

/// Returns the fragment of a document at a path (`->`), or `None` if the document has nothing there.
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
        // PostgreSQL treats a scalar as an array of one element.
        _ => (at(1)? == 0).then_some(fragment),
    }
}

/// Returns a fragment as text (`->>`): a string without its quotes, `None` for null, and the text of a `jsonb` value
/// otherwise, with a blank after each comma and colon.
#[must_use]
pub fn json_text(fragment: &str) -> Option<String> {
    match fragment.as_bytes().first() {
        Some(b'"') => serde_json::from_str(fragment).ok(),
        Some(b'n') => None,
        _ => Some(jsonb_text(fragment)),
    }
}

/// Writes a document as PostgreSQL writes `jsonb`: with a blank after each comma and colon.
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

/// Returns a key whose byte order is the order of documents: null, text, numbers, booleans, arrays, objects; numbers by
/// value, everything else by the bytes of its text.
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
            // Large integers can share their nearest floating point number: their distance from it orders them.
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

/// Returns true if `outer` contains `inner` (`@>`), or `None` if `late` returned true first.
///
/// Finding each element of one array in another takes as many comparisons as the product of their lengths, so `late` is
/// called every 4,096 comparisons. A text that is not JSON contains nothing.
pub fn json_contains(outer: &str, inner: &str, late: impl Fn() -> bool) -> Option<bool> {
    let read = |text| serde_json::from_str::<Json>(text).ok();
    let Some((outer, inner)) = read(outer).zip(read(inner)) else { return Some(false) };
    match (&outer, &inner) {
        // At the top level, and only there, PostgreSQL lets an array contain a scalar.
        (Json::Array(members), Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => {
            Some(members.contains(&inner))
        }
        _ => ContainmentCheck { compared: 0, is_late: late }.contains(&outer, &inner),
    }
}

/// A comparison of documents that stops when it is late.
struct ContainmentCheck<L> {
    compared: u32,
    is_late: L,
}

impl<L: Fn() -> bool> ContainmentCheck<L> {
    /// Number of comparisons between two calls of `is_late`.
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

/// A value of a column in the form in which SQLite stores it.
#[derive(Clone, Debug, PartialEq)]
pub enum SqliteValue<'v> {
    /// Text, a timestamp or a document.
    Text(Cow<'v, str>),
    /// An integer, or a boolean as 0 or 1.
    Integer(i64),
    /// A floating point number.
    Real(f64),
    /// Null, of any type.
    Null,
}

/// Maximum length in bytes of a text that is cast to a document; its numbers may become fifty times as long.
pub(crate) const MAX_CAST: usize = 64 * 1024;

/// Casts a value of one type to another, as PostgreSQL does. Null stays null, and the text of a number that is not
/// finite becomes null.
///
/// ```
/// use backend_data::{ColumnType, functions::{CannotCast, SqliteValue, cast}};
///
/// let cast = |text: &'static str| cast(SqliteValue::Text(text.into()), ColumnType::Text, ColumnType::Integer);
/// assert_eq!(cast(" 7 "), Ok(SqliteValue::Integer(7)));
/// assert_eq!(cast("seven"), Err(CannotCast));
/// ```
///
/// # Errors
/// [`CannotCast`] if there is no cast between the types or the value does not fit the other type.
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
            // JSON has no NaN and no infinity: rows show them as null.
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

/// Matches the text that can be cast to a timestamp, on either database: a date, or a date and a time to the second,
/// with an offset or in UTC.
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

/// Converts a rounded number to an integer of 64 bits.
fn to_integer(number: f64) -> Result<SqliteValue<'static>, CannotCast> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if (-END..END).contains(&number) { Ok(SqliteValue::Integer(number as i64)) } else { Err(CannotCast) }
}

/// Parses a boolean as PostgreSQL does: any unambiguous prefix of its words.
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

/// Writes a floating point number as PostgreSQL does: the shortest digits, with an exponent below 1e-4 and from 1e15.
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

/// The error of a value that does not fit the type it is cast to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value does not fit the cast")]
pub struct CannotCast;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_finds_a_fragment_as_in_postgresql() {
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
    fn keys_of_documents_sort_as_the_documents_do() {
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
    fn containment_is_that_of_postgresql_and_stops_when_it_is_late() {
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
