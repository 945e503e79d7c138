//! Compiler of queries and rules to SQL statements. Identifiers come from the catalog and are quoted, operators come
//! from enums, and every value is a parameter.

mod expr;
mod filter;
mod limit;
mod order;
mod paging;
mod policy;
mod postgres_type;
mod probe;
mod read;
mod schema;
mod select;
mod where_clause;
mod write;

pub(crate) use order::stable_order;
pub(crate) use policy::authorize;
pub use probe::RuleResult;
pub(crate) use probe::{ProbedRows, RuleProbe, probe_rules};
pub(crate) use read::{by_id, list};
pub(crate) use schema::{
    add_column, create_index, create_table, drop_column, drop_index, drop_table, rename_column,
};
pub(crate) use write::{ExpectedRow, InsertRows, RowSelector, StatementOptions, delete, insert, update};

use crate::{
    access::Access,
    catalog::{Catalog, ColumnType, Table},
    store::{Dialect, TableScope},
    value::Value,
};

/// The table, caller, dialect and limits that a statement is compiled for.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) scope: &'a TableScope,
    pub(crate) catalog: &'a Catalog,
    pub(crate) table: &'a Table,
    pub(crate) access: &'a Access,
    pub(crate) max_bytes: usize,
    /// Maximum number of bytes that the project's rows may take.
    pub(crate) max_stored_bytes: Option<u64>,
}

impl Target<'_> {
    fn qualified_table(&self) -> String {
        format!("{}\"{}\"", self.scope.prefix, self.table.name)
    }
}

/// The parameters of a statement.
struct Params {
    dialect: Dialect,
    /// Number of parameters before these.
    offset: usize,
    values: Vec<Value>,
}

impl Params {
    fn new(dialect: Dialect, before: usize) -> Self {
        Self { dialect, offset: before, values: Vec::new() }
    }

    /// Binds a value and returns its placeholder.
    fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        let sign = match self.dialect {
            Dialect::Sqlite => '?',
            Dialect::Postgres => '$',
        };
        format!("{sign}{}", self.offset + self.values.len())
    }

    /// Compiles `column IN (…)` with one parameter for the whole list, so that the text of the statement does not
    /// depend on the length of the list.
    fn bind_in(&mut self, column: &str, kind: ColumnType, values: Vec<Value>) -> String {
        if self.dialect == Dialect::Sqlite && kind == ColumnType::Real {
            // SQLite does not promise to parse numbers in JSON to the nearest floating point number.
            let members: Vec<String> = values.into_iter().map(|value| self.bind(value)).collect();
            return format!("{column} IN ({})", members.join(", "));
        }
        let list = self.bind(Value::List(kind, values));
        match self.dialect {
            Dialect::Sqlite => format!("{column} IN (SELECT value FROM json_each({list}))"),
            Dialect::Postgres => format!("{column} = ANY({list})"),
        }
    }
}

/// Quotes the name of a column. Names in the catalog contain no quotes.
fn quote_ident(column: &str) -> String {
    format!("\"{column}\"")
}
