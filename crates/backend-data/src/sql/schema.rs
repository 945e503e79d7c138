//! Statements that change the schema.

use super::{quoted, write::postgres_type};
use crate::{
    catalog::{Column, ColumnType, Table},
    index::Index,
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
        statements.extend(table.indexes.iter().map(|index| create_index(place, &table.name, index)));
        return statements;
    }
    let definition = definition(dialect, column);
    vec![format!("ALTER TABLE {}\"{}\" ADD COLUMN {definition}", place.prefix, table.name)]
}

pub(crate) fn drop_table(place: &Place, table: &str) -> Vec<String> {
    vec![format!("DROP TABLE {}\"{table}\"", place.prefix)]
}

pub(crate) fn create_index(place: &Place, table: &str, index: &Index) -> String {
    let mut columns: Vec<String> = index.columns.iter().map(|column| quoted(column)).collect();
    if !index.unique && !index.columns.iter().any(|column| column == "id") {
        // Every order ends with the id, so that it needs no sorting where rows tie.
        columns.push(quoted("id"));
    }
    let name = index_name(table, index);
    let unique = if index.unique { "UNIQUE " } else { "" };
    format!("CREATE {unique}INDEX \"{name}\" ON {}\"{table}\" ({})", place.prefix, columns.join(", "))
}

pub(crate) fn drop_index(place: &Place, table: &str, index: &Index) -> String {
    format!("DROP INDEX {}\"{}\"", place.prefix, index_name(table, index))
}

/// No table begins with an underscore.
fn index_name(table: &str, index: &Index) -> String {
    format!("_{table}_{}", index.name)
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
