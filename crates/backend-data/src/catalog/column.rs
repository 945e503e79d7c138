//! Columns and their types.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// Unicode text without the character U+0000.
    Text,
    /// A signed 64-bit integer.
    Integer,
    /// A finite 64-bit floating point number (IEEE 754 binary64).
    Real,
    /// True or false.
    Boolean,
    /// An instant in UTC, to the microsecond, in the years 1 to 9999.
    Timestamp,
    /// Any JSON value.
    Json,
}

impl ColumnType {
    /// Returns the name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Boolean => "boolean",
            Self::Timestamp => "timestamp",
            Self::Json => "json",
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–63 characters.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// True if its values may be null.
    pub nullable: bool,
    /// True for the columns that every table has: `id` and `created_at`.
    pub system: bool,
    /// The value of a row that is inserted without one. Absent if the column has no default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
}
