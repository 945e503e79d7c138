//! Parsers of JSON bodies: rows as objects, and the columns of an update. JSON is not parsed into a tree.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fmt,
};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::row_id::RowIdGenerator;
use crate::{
    catalog::{Column, Table},
    error::{Error, ErrorKind, Quoted, Result},
    sql::InsertRows,
    timestamp::Micros,
    value::Value,
};

/// A row as it was sent: its keys, each once, and the JSON text of their values.
pub(super) struct RowObject<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RowObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = RowObject<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of column values")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RowObject<'de>, A::Error> {
                let mut entries: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    let value = map.next_value()?;
                    if entries.len() > crate::catalog::MAX_COLUMNS {
                        return Err(de::Error::custom("more keys than a table has columns"));
                    }
                    if entries.iter().any(|(other, _)| *other == key) {
                        return Err(de::Error::custom(format_args!(
                            "the key {} appears twice",
                            Quoted(&key)
                        )));
                    }
                    entries.push((key, value));
                }
                Ok(RowObject(entries))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// A key of an object, borrowed unless it has an escape.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Explains why a body was not accepted: with the reason alone if it is well-formed JSON.
fn json_error(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    match text.split(" at line ").next() {
        Some(reason)
            if error.is_data()
                && reason.starts_with(|c: char| c.is_lowercase())
                && !reason.starts_with("invalid type") =>
        {
            Error::invalid_body(format!("the body does not fit: {reason}"))
        }
        _ => Error::invalid_body("the body must be a JSON object or an array of them").with_details(text),
    }
}

/// The rows of a body, which is one object or an array of them.
struct RowObjects<'a> {
    rows: Vec<RowObject<'a>>,
}

fn parse_objects(body: &[u8], most: usize) -> Result<RowObjects<'_>> {
    struct Rows<'a>(Vec<RowObject<'a>>);
    struct Limited(usize);
    impl<'de> de::DeserializeSeed<'de> for Limited {
        type Value = Rows<'de>;
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rows<'de>, D::Error> {
            deserializer.deserialize_seq(self)
        }
    }
    impl<'de> Visitor<'de> for Limited {
        type Value = Rows<'de>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of rows")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Rows<'de>, A::Error> {
            let mut rows = Vec::new();
            while let Some(row) = items.next_element()? {
                if rows.len() == self.0 {
                    return Err(de::Error::custom(format_args!("more than {} rows", self.0)));
                }
                rows.push(row);
            }
            Ok(Rows(rows))
        }
    }
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    let rows = if first == Some(&b'[') {
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        let Rows(rows) = de::DeserializeSeed::deserialize(Limited(most), &mut deserializer)
            .map_err(|error| json_error(&error))?;
        deserializer.end().map_err(|error| json_error(&error))?;
        rows
    } else {
        vec![serde_json::from_slice(body).map_err(|error| json_error(&error))?]
    };
    Ok(RowObjects { rows })
}

/// Parses the rows of an insert, checks every value, and adds ids, times of creation and defaults.
pub(super) fn parse_insert_rows<'t>(
    table: &'t Table,
    body: &[u8],
    named: Option<&[String]>,
    most: usize,
    fill: &RowDefaults<'_>,
) -> Result<InsertRows<'t>> {
    let RowObjects { rows } = parse_objects(body, most)?;
    let mut given: Vec<&Column> = Vec::new();
    match (named, rows.first()) {
        (Some(named), _) => {
            for name in named {
                let column = writable_column(table, name)?;
                if !given.iter().any(|other| other.name == column.name) {
                    given.push(column);
                }
            }
        }
        (None, Some(RowObject(first))) => {
            for (name, _) in first {
                given.push(writable_column(table, name)?);
            }
        }
        (None, None) => {}
    }
    let written: Vec<&Column> = table.columns.iter().collect();
    let positions = column_positions(table);
    let mut values = Vec::with_capacity(rows.len());
    for (index, RowObject(row)) in rows.iter().enumerate() {
        let value = row_values(table, &positions, row, &given, named.is_none(), fill);
        values.push(value.map_err(|error| if rows.len() > 1 { error.in_row(index + 1) } else { error })?);
    }
    let given = given.iter().map(|column| column.name.as_str()).collect();
    Ok(InsertRows { columns: written, given, rows: values })
}

/// Maps the names of columns to their positions in the table.
pub(super) fn column_positions(table: &Table) -> HashMap<&str, usize> {
    table.columns.iter().enumerate().map(|(at, column)| (column.name.as_str(), at)).collect()
}

/// Returns the values of one object in the order of the table's columns.
pub(super) fn row_values(
    table: &Table,
    positions: &HashMap<&str, usize>,
    row: &[(Cow<'_, str>, &RawValue)],
    given: &[&Column],
    requires_same_keys: bool,
    fill: &RowDefaults<'_>,
) -> Result<Vec<Value>> {
    if requires_same_keys
        && (row.len() != given.len() || !row.iter().all(|(key, _)| given.iter().any(|c| c.name == *key)))
    {
        return Err(Error::invalid_body("All object keys must match").with_details(
            "Its keys differ from those of the first row. To leave some out, name the columns in `columns`.",
        ));
    }
    // One slot for every column of the table, so that a missing value that may not be null is noticed.
    let mut slots: Vec<Option<Value>> = vec![None; table.columns.len()];
    for (key, raw) in row {
        let Some(column) = given.iter().find(|column| column.name == *key) else { continue };
        let value = Value::from_json(column, raw.get())?;
        if let Some(slot) = positions.get(key.as_ref()).and_then(|at| slots.get_mut(*at)) {
            *slot = Some(value);
        }
    }
    if !requires_same_keys && !fill.missing_default {
        // A column that `columns` names and this row leaves out is null, as in PostgREST. An id is generated.
        let missing = given.iter().filter(|column| column.name != "id" && !fill.defaults.is_empty());
        for column in missing {
            if let Some(slot @ None) = positions.get(column.name.as_str()).and_then(|at| slots.get_mut(*at)) {
                *slot = Some(Value::null_for(column)?);
            }
        }
    }
    fill.fill_row(&table.columns, slots)
}

/// The values of columns that a row leaves out: ids, the time of creation, and defaults.
pub(super) struct RowDefaults<'f> {
    ids: &'f RowIdGenerator,
    now: Micros,
    /// The defaults of the table's columns, in their order; empty if no column has one.
    defaults: Vec<Option<Value>>,
    /// True if a column that `columns` names gets its default in a row that leaves it out, rather than null.
    missing_default: bool,
}

impl<'f> RowDefaults<'f> {
    pub(super) fn new(table: &Table, ids: &'f RowIdGenerator, now: Micros) -> Result<Self> {
        let some = table.columns.iter().any(|column| column.default.is_some());
        let columns = table.columns.iter().filter(|_| some);
        let defaults = columns.map(Column::default_value).collect::<Result<_>>()?;
        Ok(Self { ids, now, defaults, missing_default: false })
    }

    /// Chooses between defaults and null for columns that `columns` names and a row leaves out.
    pub(super) fn with_missing_default(self, missing_default: bool) -> Self {
        Self { missing_default, ..self }
    }

    /// Completes the values of a row.
    pub(super) fn fill_row(&self, written: &[Column], slots: Vec<Option<Value>>) -> Result<Vec<Value>> {
        let values = written.iter().zip(slots).enumerate().map(|(at, (column, value))| {
            match (column.name.as_str(), value) {
                ("id", None) => Ok(Value::Text(self.ids.next(self.now))),
                ("id", Some(Value::Text(id))) => validate_row_id(id).map(Value::Text),
                ("created_at", None) => Ok(Value::Timestamp(self.now)),
                (_, Some(value)) => Ok(value),
                (_, None) => match self.defaults.get(at) {
                    Some(Some(default)) => Ok(default.clone()),
                    _ => Value::null_for(column),
                },
            }
        });
        values.collect()
    }
}

/// Parses the row of a PUT with this id.
pub(super) fn parse_put_row<'t>(
    table: &'t Table,
    body: &[u8],
    id: &str,
    fill: &RowDefaults<'_>,
) -> Result<InsertRows<'t>> {
    let mut changes = parse_insert_rows(table, body, None, 1, fill)?;
    let id = validate_row_id(id.to_owned())?;
    // `id` is the first column.
    let Some(stored_id) = changes.rows.first_mut().and_then(|row| row.first_mut()) else {
        return Err(Error::invalid_body("a PUT has one row"));
    };
    if !changes.given.contains(&"id") {
        changes.given.push("id");
    } else if *stored_id != Value::Text(id.clone()) {
        return Err(Error::new(
            ErrorKind::Invalid,
            "invalid_body",
            "PGRST115",
            "the id of the row differs from the one in the URL",
        ));
    }
    *stored_id = Value::Text(id);
    Ok(changes)
}

/// Refuses an upsert with two rows that have the same values in these columns: it would not be defined which one stays.
/// Rows with a null among them are different rows.
pub(super) fn reject_duplicate_rows(changes: &InsertRows<'_>, conflict: &[(usize, &Column)]) -> Result<()> {
    let mut seen = HashSet::new();
    for row in &changes.rows {
        let values: Vec<&Value> = conflict.iter().filter_map(|(at, _)| row.get(*at)).collect();
        let key: Option<Vec<Cow<'_, str>>> = values.iter().map(|value| key_part(value)).collect();
        if key.is_some_and(|key| !seen.insert(key)) {
            let names: Vec<&str> = conflict.iter().map(|(_, column)| column.name.as_str()).collect();
            return Err(Error::invalid_body(match (&names[..], &values[..]) {
                ([name], [Value::Text(text)]) => format!("the {name} {} appears twice", Quoted(text)),
                ([name], _) => format!("a value of {name} appears twice"),
                _ => format!("the values of {} appear twice", names.join(", ")),
            }));
        }
    }
    Ok(())
}

/// Returns the part of a row's identity that a value makes up, or `None` if it is null.
fn key_part(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null(_) => None,
        Value::Text(text) => Some(Cow::Borrowed(text)),
        // Negative zero equals zero.
        Value::Real(number) => Some(Cow::Owned((number + 0.0).to_string())),
        other => Some(Cow::Owned(format!("{other:?}"))),
    }
}

/// Parses the columns that an update sets, with their values.
pub(super) fn parse_assignments<'t>(table: &'t Table, body: &[u8]) -> Result<Vec<(&'t Column, Value)>> {
    let RowObject(row) = serde_json::from_slice(body).map_err(|error| {
        Error::invalid_body("the body must be a JSON object of column values").with_details(error)
    })?;
    row.iter()
        .map(|(name, raw)| {
            let column = writable_column(table, name)?;
            if column.name == "id" {
                return Err(Error::invalid_request("the id of a row cannot be changed"));
            }
            Ok((column, Value::from_json(column, raw.get())?))
        })
        .collect()
}

pub(super) fn writable_column<'t>(table: &'t Table, name: &str) -> Result<&'t Column> {
    let column = table.get_column(name)?;
    if column.name == "created_at" {
        return Err(Error::invalid_request("created_at is set by the server and cannot be written"));
    }
    Ok(column)
}

/// Checks that an id fits into a path segment.
fn validate_row_id(id: String) -> Result<String> {
    if (1..=128).contains(&id.chars().count()) && !id.chars().any(char::is_control) {
        Ok(id)
    } else {
        Err(Error::invalid_value("a row id has 1 to 128 characters and no control characters"))
    }
}
