//! SQL functions that SQLite lacks, besides those of `LIKE`: regular expressions, paths into documents, casts.
//!
//! SQLite cannot interrupt a function, and calls its progress handler only after many instructions, so each function
//! checks the deadline first.

use std::borrow::Cow;

use backend_data::{
    ColumnType,
    functions::{CannotCast, JsonPath, SqliteValue, cast, json_contains, json_get, json_order, json_text},
};
use rusqlite::{
    Connection, Error, ffi,
    functions::{Context, FunctionFlags},
    types::{ToSqlOutput, Value, ValueRef},
};

use super::pattern::Pattern;

/// Registers the functions. `late` returns true once the statement has exceeded its time limit.
pub(super) fn register(
    connection: &Connection,
    late: impl Fn() -> bool + Clone + Send + 'static,
) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS
        | FunctionFlags::SQLITE_DIRECTONLY;
    let clock = late.clone();
    connection.create_scalar_function("qala_match", 2, flags, move |context| {
        check_deadline(&clock)?;
        let Some(text) = context.get_raw(0).as_str_or_null()? else { return Ok(None) };
        if context.get_raw(1) == ValueRef::Null {
            return Ok(None);
        }
        // Compiled once per statement.
        let pattern = context.get_or_create_aux(1, |pattern| Pattern::new(pattern.as_str()?))?;
        pattern.is_match(text, &clock).map(Some).map_err(|_| interrupted_error())
    })?;
    let clock = late.clone();
    connection.create_scalar_function("qala_json", 2, flags, move |context| {
        check_deadline(&clock)?;
        Ok(json_fragment_arg(context)?.map(str::to_owned))
    })?;
    let clock = late.clone();
    connection.create_scalar_function("qala_json_text", 2, flags, move |context| {
        check_deadline(&clock)?;
        Ok(json_fragment_arg(context)?.and_then(json_text))
    })?;
    let clock = late.clone();
    connection.create_scalar_function("qala_json_order", 1, flags, move |context| {
        check_deadline(&clock)?;
        Ok(context.get_raw(0).as_str_or_null()?.map(json_order))
    })?;
    let clock = late.clone();
    connection.create_scalar_function("qala_json_contains", 2, flags, move |context| {
        check_deadline(&clock)?;
        let outer = context.get_raw(0).as_str_or_null()?;
        let inner = context.get_raw(1).as_str_or_null()?;
        let Some((outer, inner)) = outer.zip(inner) else { return Ok(None) };
        json_contains(outer, inner, &clock).map(Some).ok_or_else(interrupted_error)
    })?;
    connection.create_scalar_function("qala_cast", 3, flags, move |context| {
        check_deadline(&late)?;
        let (from, to) = (column_type_arg(context, 1)?, column_type_arg(context, 2)?);
        let value = match context.get_raw(0) {
            ValueRef::Null => SqliteValue::Null,
            // In RETURNING, SQLite may have a whole number of a real column as an integer.
            ValueRef::Integer(value) if from == ColumnType::Real => SqliteValue::Real(value as f64),
            ValueRef::Integer(value) => SqliteValue::Integer(value),
            ValueRef::Real(value) => SqliteValue::Real(value),
            ValueRef::Text(_) | ValueRef::Blob(_) => {
                SqliteValue::Text(Cow::Borrowed(context.get_raw(0).as_str()?))
            }
        };
        let done = cast(value, from, to).map_err(|error| Error::UserFunctionError(Box::new(error)))?;
        Ok(ToSqlOutput::Owned(match done {
            SqliteValue::Text(text) => Value::Text(text.into_owned()),
            SqliteValue::Integer(value) => Value::Integer(value),
            SqliteValue::Real(value) => Value::Real(value),
            SqliteValue::Null => Value::Null,
        }))
    })
}

/// Returns the error of a statement that exceeded its time limit.
pub(super) fn interrupted_error() -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None)
}

fn check_deadline(late: &impl Fn() -> bool) -> rusqlite::Result<()> {
    if late() { Err(interrupted_error()) } else { Ok(()) }
}

/// Returns the fragment of the document in the first argument at the path in the second.
fn json_fragment_arg<'c>(context: &'c Context<'_>) -> rusqlite::Result<Option<&'c str>> {
    let Some(document) = context.get_raw(0).as_str_or_null()? else { return Ok(None) };
    let steps = context.get_or_create_aux(1, |steps| {
        let steps = JsonPath::parse(steps.as_str()?);
        Ok::<JsonPath, Box<dyn std::error::Error + Send + Sync>>(steps.ok_or("not a path into a document")?)
    })?;
    Ok(json_get(document, &steps))
}

fn column_type_arg(context: &Context<'_>, at: usize) -> rusqlite::Result<ColumnType> {
    match context.get_raw(at).as_str()? {
        "text" => Ok(ColumnType::Text),
        "integer" => Ok(ColumnType::Integer),
        "real" => Ok(ColumnType::Real),
        "boolean" => Ok(ColumnType::Boolean),
        "timestamp" => Ok(ColumnType::Timestamp),
        "json" => Ok(ColumnType::Json),
        _ => Err(Error::UserFunctionError(Box::new(CannotCast))),
    }
}
