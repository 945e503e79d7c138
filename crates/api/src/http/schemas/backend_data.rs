//! Types of `backend-data`.

#![expect(dead_code, reason = "described, never created")]

mod names;
mod rule;

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

pub(crate) use names::{ColumnName, TableName};
pub(crate) use rule::Rule;

use super::enumeration::enumerations;

enumerations! {
    /// An action that a rule allows.
    Action: backend_data::rule::Action;
    /// The type of a column.
    ColumnType: backend_data::ColumnType;
    /// A comparison of a column to a value. Text compares by its bytes.
    Comparison: backend_data::rule::Comparison;
}

/// The definition of a column to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewColumn {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–63 characters. Some names are reserved.
    #[schema(value_type = ColumnName)]
    name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    kind: ColumnType,
    /// True if its values may be null (default).
    #[serde(default)]
    nullable: bool,
    /// The value of a row that is inserted without one, in the form in which it would be sent; at most 4 KiB. Existing
    /// rows do not change.
    #[serde(default)]
    #[schema(value_type = Value, required = false)]
    default: Option<Value>,
}

/// The definition of a table to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewTable {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–48 characters. Some names are reserved.
    #[schema(value_type = TableName)]
    name: String,
    /// The columns besides `id` and `created_at`; at most 64.
    #[serde(default)]
    #[schema(max_items = 64)]
    columns: Vec<NewColumn>,
    /// True if anyone may read every row.
    #[serde(default)]
    public_read: bool,
    /// The name of the table again; required for a public table.
    #[serde(default)]
    confirm_public: Option<String>,
}

/// An index of a table.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct Index {
    /// `ix1`, `ix2`, … in the order of creation. A name is used again only if no index created later exists.
    name: String,
    /// The columns it sorts rows by, most significant first. Rows that tie are sorted by `id`.
    columns: Vec<String>,
    /// True if no two rows may have the same values in all of the columns. Null is not a value.
    #[serde(default)]
    unique: bool,
}

/// The definition of an index to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewIndex {
    /// One to four columns that are not of type `json`: first those that filters compare by equality, then the one that
    /// rows are ordered by or that filters compare by range.
    #[schema(min_items = 1, max_items = 4, value_type = Vec<ColumnName>)]
    columns: Vec<String>,
    /// Refuses a row that has the values of another one in all of the columns. Null is not a value: a row with a null
    /// among them is never refused. A unique index cannot include `id`.
    #[serde(default)]
    unique: bool,
}
