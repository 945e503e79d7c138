//! Statements that change the schema.

use super::{postgres_type::postgres_type, quote_ident};
use crate::{
    catalog::{Column, ColumnType, Table},
    index::Index,
    store::{Dialect, TableScope},
};

pub(crate) fn create_table(dialect: Dialect, scope: &TableScope, table: &Table) -> Vec<String> {
    let columns: Vec<String> =
        table.columns.iter().map(|column| column_definition(dialect, column)).collect();
    // With STRICT, a value of another type is an error in SQLite too.
    let options = match dialect {
        Dialect::Sqlite => " STRICT",
        Dialect::Postgres => "",
    };
    vec![format!("CREATE TABLE {}\"{}\" ({}){options}", scope.prefix, table.name, columns.join(", "))]
}

pub(crate) fn add_column(
    dialect: Dialect,
    scope: &TableScope,
    table: &Table,
    column: &Column,
) -> Vec<String> {
    if dialect == Dialect::Sqlite && !column.nullable {
        // SQLite cannot add such a column even to an empty table, which this one must be, so the table is created
        // again.
        let mut statements = drop_table(scope, &table.name);
        statements.extend(create_table(dialect, scope, table));
        statements.extend(table.indexes.iter().map(|index| create_index(scope, &table.name, index)));
        return statements;
    }
    let definition = column_definition(dialect, column);
    vec![format!("ALTER TABLE {}\"{}\" ADD COLUMN {definition}", scope.prefix, table.name)]
}

/// Renames a column. Both databases rename it in the indexes too.
pub(crate) fn rename_column(scope: &TableScope, table: &str, column: &str, name: &str) -> Vec<String> {
    let (column, name) = (quote_ident(column), quote_ident(name));
    vec![format!("ALTER TABLE {}\"{table}\" RENAME COLUMN {column} TO {name}", scope.prefix)]
}

/// Drops a column that no index has.
pub(crate) fn drop_column(scope: &TableScope, table: &str, column: &str) -> Vec<String> {
    vec![format!("ALTER TABLE {}\"{table}\" DROP COLUMN {}", scope.prefix, quote_ident(column))]
}

pub(crate) fn drop_table(scope: &TableScope, table: &str) -> Vec<String> {
    vec![format!("DROP TABLE {}\"{table}\"", scope.prefix)]
}

pub(crate) fn create_index(scope: &TableScope, table: &str, index: &Index) -> String {
    let mut columns: Vec<String> = index.columns.iter().map(|column| quote_ident(column)).collect();
    if !index.unique && !index.columns.iter().any(|column| column == "id") {
        // Every order ends with the id; with it in the index, rows that tie need no sorting.
        columns.push(quote_ident("id"));
    }
    let name = index_name(table, index);
    let unique = if index.unique { "UNIQUE " } else { "" };
    format!("CREATE {unique}INDEX \"{name}\" ON {}\"{table}\" ({})", scope.prefix, columns.join(", "))
}

pub(crate) fn drop_index(scope: &TableScope, table: &str, index: &Index) -> String {
    format!("DROP INDEX {}\"{}\"", scope.prefix, index_name(table, index))
}

/// Returns the name of an index, which no table has, since none begins with an underscore.
fn index_name(table: &str, index: &Index) -> String {
    format!("_{table}_{}", index.name)
}

fn column_definition(dialect: Dialect, column: &Column) -> String {
    let name = quote_ident(&column.name);
    let kind = match (dialect, column.kind) {
        // With it, both databases compare and sort text by its bytes.
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
