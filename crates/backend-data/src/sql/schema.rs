//! Statements that change the schema.

use super::{quoted, write::postgres_type};
use crate::{
    catalog::{Column, ColumnType, Table},
    store::{Dialect, Place},
};

pub(crate) fn create_table(dialect: Dialect, place: &Place, table: &Table) -> Vec<String> {
    let columns: Vec<String> = table.columns.iter().map(|column| definition(dialect, column)).collect();
    // STRICT: a value of another type is an error in SQLite too.
    let options = match dialect {
        Dialect::Sqlite => " STRICT",
        Dialect::Postgres => "",
    };
    vec![format!("CREATE TABLE {}\"{}\" ({}){options}", place.prefix, table.name, columns.join(", "))]
}

pub(crate) fn add_column(dialect: Dialect, place: &Place, table: &Table, column: &Column) -> Vec<String> {
    if dialect == Dialect::Sqlite && !column.nullable {
        // SQLite cannot add such a column even to the empty table this one must be.
        let mut statements = drop_table(place, &table.name);
        statements.extend(create_table(dialect, place, table));
        return statements;
    }
    let definition = definition(dialect, column);
    vec![format!("ALTER TABLE {}\"{}\" ADD COLUMN {definition}", place.prefix, table.name)]
}

pub(crate) fn drop_table(place: &Place, table: &str) -> Vec<String> {
    vec![format!("DROP TABLE {}\"{table}\"", place.prefix)]
}

fn definition(dialect: Dialect, column: &Column) -> String {
    let name = quoted(&column.name);
    let kind = match (dialect, column.kind) {
        // Both databases then compare and sort text by its bytes.
        (Dialect::Postgres, ColumnType::Text) => "text COLLATE \"C\"".to_owned(),
        (Dialect::Postgres, kind) => postgres_type(kind).to_owned(),
        (Dialect::Sqlite, ColumnType::Text | ColumnType::Timestamp | ColumnType::Json) => "TEXT".to_owned(),
        (Dialect::Sqlite, ColumnType::Integer) => "INTEGER".to_owned(),
        (Dialect::Sqlite, ColumnType::Real) => "REAL".to_owned(),
        (Dialect::Sqlite, ColumnType::Boolean) => format!("INTEGER CHECK ({name} IN (0, 1))"),
    };
    let null = match (column.name.as_str(), column.nullable) {
        ("id", _) => " NOT NULL PRIMARY KEY",
        (_, false) => " NOT NULL",
        (_, true) => "",
    };
    format!("{name} {kind}{null}")
}
