//! Typed values that are read from a request and bound to a statement.

use crate::{
    catalog::{Column, ColumnType},
    error::{Error, Quoted, Result},
    json,
    timestamp::Micros,
};

/// A value that a store binds to a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Null, for a column of this type.
    Null(ColumnType),
    /// Text without the character U+0000.
    Text(String),
    /// A signed 64-bit integer.
    Integer(i64),
    /// A finite floating point number; never negative zero.
    Real(f64),
    /// True or false.
    Boolean(bool),
    /// An instant, to the microsecond.
    Timestamp(Micros),
    /// A JSON document in canonical form: no blanks between tokens, keys ordered as `jsonb` orders them, each once, and
    /// numbers without exponents.
    Json(String),
    /// The members of a list, all of one type. They are bound as one parameter: a JSON array in SQLite
    /// ([`Value::list_json`]), an array in PostgreSQL.
    List(ColumnType, Vec<Value>),
}

fn type_mismatch(column: &Column, what: &str) -> Error {
    let name = Quoted(&column.name);
    Error::invalid_value(format!("column {name} is {}: {what}", column.kind.as_str()))
}

impl Value {
    /// Parses the JSON text of a value for a column. `null` is allowed if the column is nullable.
    pub(crate) fn from_json(column: &Column, raw: &str) -> Result<Self> {
        if raw == "null" {
            return Self::null_for(column);
        }
        let quoted = raw.starts_with('"');
        let text = || {
            serde_json::from_str::<String>(raw)
                .map_err(|_| type_mismatch(column, "the value must be a string"))
        };
        match column.kind {
            ColumnType::Text => {
                if !quoted {
                    return Err(type_mismatch(column, "the value must be a string"));
                }
                Self::text_for(column, text()?)
            }
            ColumnType::Integer if quoted => Self::from_text(column, &text()?),
            ColumnType::Real if quoted => Self::from_text(column, &text()?),
            ColumnType::Integer | ColumnType::Real => {
                if raw.starts_with(['{', '[', 't', 'f']) {
                    return Err(type_mismatch(column, "the value must be a number"));
                }
                Self::from_text(column, raw)
            }
            ColumnType::Boolean if quoted => Self::from_text(column, &text()?),
            ColumnType::Boolean => match raw {
                "true" => Ok(Self::Boolean(true)),
                "false" => Ok(Self::Boolean(false)),
                _ => Err(type_mismatch(column, "the value must be true or false")),
            },
            ColumnType::Timestamp => {
                if !quoted {
                    return Err(type_mismatch(
                        column,
                        "the value must be a string such as \"2026-01-02T03:04:05Z\"",
                    ));
                }
                Self::from_text(column, &text()?)
            }
            ColumnType::Json => json::canonicalize(raw)
                .map(Self::Json)
                .map_err(|error| type_mismatch(column, &error.to_string())),
        }
    }

    /// Parses a value as a query string or a CSV field has it.
    pub(crate) fn from_text(column: &Column, text: &str) -> Result<Self> {
        match column.kind {
            ColumnType::Text => Self::text_for(column, text.to_owned()),
            ColumnType::Integer => {
                parse_integer(text).map(Self::Integer).map_err(|message| type_mismatch(column, message))
            }
            ColumnType::Real => parse_real(text)
                .map(Self::Real)
                .ok_or_else(|| type_mismatch(column, "the value must be a finite number")),
            ColumnType::Boolean => parse_boolean(text)
                .map(Self::Boolean)
                .ok_or_else(|| type_mismatch(column, "the value must be true or false")),
            ColumnType::Timestamp => Micros::parse(text).map(Self::Timestamp).ok_or_else(|| {
                type_mismatch(column, "the value must be a time such as 2026-01-02T03:04:05Z")
            }),
            ColumnType::Json => json::canonicalize(text)
                .map(Self::Json)
                .map_err(|error| type_mismatch(column, &error.to_string())),
        }
    }

    /// Writes the members of a list as a JSON array in the form in which SQLite stores them: timestamps as text,
    /// booleans as 0 and 1, nested lists as null.
    ///
    /// ```
    /// use backend_data::{Micros, Value};
    ///
    /// let members = [Value::Text("tea".into()), Value::Boolean(true), Value::Timestamp(Micros::EPOCH)];
    /// assert_eq!(Value::list_json(&members), r#"["tea",1,"1970-01-01T00:00:00.000000Z"]"#);
    /// ```
    #[must_use]
    pub fn list_json(values: &[Self]) -> String {
        let mut out = vec![b'['];
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match value {
                Self::Text(text) | Self::Json(text) => json::write_string(&mut out, text),
                Self::Integer(value) => out.extend_from_slice(value.to_string().as_bytes()),
                Self::Real(value) => out.extend_from_slice(format!("{value:?}").as_bytes()),
                Self::Boolean(value) => out.push(if *value { b'1' } else { b'0' }),
                Self::Timestamp(value) => json::write_string(&mut out, &value.to_text()),
                Self::Null(_) | Self::List(..) => out.extend_from_slice(b"null"),
            }
        }
        out.push(b']');
        // Every part is UTF-8.
        String::from_utf8(out).unwrap_or_default()
    }

    pub(crate) fn null_for(column: &Column) -> Result<Self> {
        if column.nullable {
            Ok(Self::Null(column.kind))
        } else {
            let message = format!("column {} may not be null", Quoted(&column.name));
            Err(Error::new(crate::ErrorKind::Invalid, "value_required", "23502", message))
        }
    }

    fn text_for(column: &Column, text: String) -> Result<Self> {
        if text.contains('\0') {
            return Err(type_mismatch(column, "text may not contain the character U+0000"));
        }
        Ok(Self::Text(text))
    }
}

/// Parses an integer without rounding: `7.0` is one, `7.5` is not.
/// Most that a number with a fraction may have as an integer, either way: beyond it, it stands for several integers.
const LARGEST_EXACT_FLOAT: u64 = (1 << 53) - 1;

/// Parses an integer, also one with a fraction of zeros, as JSON and spreadsheets have it.
fn parse_integer(text: &str) -> Result<i64, &'static str> {
    let text = text.trim();
    if let Ok(value) = text.parse::<i64>() {
        return Ok(value);
    }
    let whole =
        text.split_once('.').filter(|(_, zeros)| !zeros.is_empty() && zeros.bytes().all(|b| b == b'0'));
    let value = whole.and_then(|(whole, _)| whole.parse::<i64>().ok());
    match value {
        None => Err("the value must be an integer of at most 64 bits"),
        Some(value) if value.unsigned_abs() > LARGEST_EXACT_FLOAT => Err(
            "a number with a fraction or of JavaScript is not exact beyond 53 bits: send its digits as text",
        ),
        Some(value) => Ok(value),
    }
}

fn parse_real(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust also parses "inf" and "nan", which no column holds.
    if text.bytes().any(|b| !matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    // The two zeros compare equal but print differently, so only one of them is stored.
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
        .map(|value| if value == 0.0 { 0.0 } else { value })
}

fn parse_boolean(text: &str) -> Option<bool> {
    let is = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    if is(&["true", "t", "1", "yes", "on"]) {
        Some(true)
    } else if is(&["false", "f", "0", "no", "off"]) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: ColumnType) -> Column {
        Column { name: "c".into(), kind, nullable: true, system: false, default: None }
    }

    #[test]
    fn a_value_is_read_exactly_or_refused() {
        use ColumnType::{Boolean, Integer, Json, Real, Text, Timestamp};
        for (kind, raw, wanted) in [
            (Text, r#""a""#, Some(Value::Text("a".into()))),
            (Text, "1", None),
            (Text, r#""\u0000""#, None),
            (Integer, "9223372036854775807", Some(Value::Integer(i64::MAX))),
            (Integer, "\"9223372036854775807\"", Some(Value::Integer(i64::MAX))),
            (Integer, "9223372036854775808", None),
            (Integer, "1.5", None),
            (Integer, "1.0", Some(Value::Integer(1))),
            (Integer, "true", None),
            (Real, "1e400", None),
            (Real, "\"NaN\"", None),
            (Real, "\"Infinity\"", None),
            (Real, "-0.0", Some(Value::Real(0.0))),
            (Boolean, "true", Some(Value::Boolean(true))),
            (Boolean, "1", None),
            (Boolean, "\"true\"", Some(Value::Boolean(true))),
            (Boolean, "\"no\"", Some(Value::Boolean(false))),
            (Boolean, "\"maybe\"", None),
            (
                Timestamp,
                r#""2026-01-01T00:00:00Z""#,
                Micros::new(1_767_225_600_000_000).map(Value::Timestamp),
            ),
            (Timestamp, r#""yesterday""#, None),
            (Json, r#"{"b":1, "a":2}"#, Some(Value::Json(r#"{"a":2,"b":1}"#.into()))),
            (Json, "null", Some(Value::Null(Json))),
        ] {
            assert_eq!(Value::from_json(&column(kind), raw).ok(), wanted, "{kind:?} {raw}");
        }
        let required = Column { nullable: false, ..column(Text) };
        assert!(Value::from_json(&required, "null").is_err());
    }
}
