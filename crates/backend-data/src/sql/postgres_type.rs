//! Types of columns in PostgreSQL.

use crate::catalog::ColumnType;

pub(super) fn postgres_type(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Text => "text",
        ColumnType::Integer => "bigint",
        ColumnType::Real => "float8",
        ColumnType::Boolean => "boolean",
        ColumnType::Timestamp => "timestamptz",
        ColumnType::Json => "jsonb",
    }
}
