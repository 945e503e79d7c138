//! The catalog of a project: its tables, columns, indexes and rules, and the changes that can be made to them.

mod column;
mod column_changes;
mod indexes;
mod rules;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    error::{Error, ErrorKind, Quoted, Result},
    ident,
    index::Index,
    rule::Rule,
    value::Value,
};

pub use column::{Column, ColumnType};

/// Maximum number of tables of a project.
pub const MAX_TABLES: usize = 64;
/// Maximum number of columns that a table is created with, besides `id` and `created_at`.
pub const MAX_NEW_COLUMNS: usize = 64;
/// Maximum number of columns of a table, `id` and `created_at` included.
pub const MAX_COLUMNS: usize = MAX_NEW_COLUMNS + 2;

/// Maximum length of a column's default in bytes of JSON.
pub const MAX_DEFAULT: usize = 4096;

impl Column {
    /// Returns the default as a value of the column's type.
    pub(crate) fn default_value(&self) -> Result<Option<Value>> {
        self.default.as_ref().map(|default| Value::from_json(self, &default.to_string())).transpose()
    }
}

/// A table of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–48 characters.
    pub name: String,
    /// The columns: `id`, `created_at`, then the others in the order in which they were added.
    pub columns: Vec<Column>,
    /// True if anyone may read every row.
    pub public_read: bool,
    /// The rules of its policy: what visitors and signed-in people may do.
    pub rules: Vec<Rule>,
    /// The indexes, in the order of creation.
    #[serde(default)]
    pub indexes: Vec<Index>,
    /// Number of rows; null if they were not counted.
    pub row_count: Option<u64>,
    /// Time of creation.
    pub created_at: String,
}

impl Table {
    /// Returns the column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the columns that `on_conflict` names, with their positions in the table: `id`, or the columns of a
    /// unique index, all of which are among the `given` ones. They come in the order of the index, however they are
    /// named, so that upserts by the same values lock rows in the same order.
    pub(crate) fn resolve_conflict_target(
        &self,
        names: &[String],
        given: &[&str],
    ) -> Result<Vec<(usize, &Column)>> {
        let position_of = |name: &str| {
            let found = self.columns.iter().enumerate().find(|(_, column)| column.name == name);
            found.ok_or_else(|| Error::column_not_found(&self.name, name))
        };
        if names.is_empty() || names == ["id"] {
            return Ok(vec![position_of("id")?]);
        }
        for (at, name) in names.iter().enumerate() {
            position_of(name)?;
            if names.iter().take(at).any(|other| other == name) {
                return Err(Error::invalid_request(format!("`on_conflict` names {} twice", Quoted(name))));
            }
        }
        if let Some(name) = names.iter().find(|name| !given.contains(&name.as_str())) {
            return Err(Error::invalid_body(format!(
                "`on_conflict` names {}, which the rows do not have",
                Quoted(name)
            )));
        }
        let index = self.indexes.iter().find(|index| index.is_unique_on(names)).ok_or_else(|| {
            let quoted: Vec<String> = names.iter().map(|name| Quoted(name).to_string()).collect();
            let message = match &quoted[..] {
                [name] => format!("column {name} has no unique index"),
                names => format!("columns {} have no unique index together", names.join(", ")),
            };
            Error::new(ErrorKind::Invalid, "not_unique", "42P10", message).with_hint(
                "Create one on exactly the columns that `on_conflict` names, with `\"unique\": true`.",
            )
        })?;
        index.columns.iter().map(|name| position_of(name)).collect()
    }

    pub(crate) fn get_column(&self, name: &str) -> Result<&Column> {
        self.column(name).ok_or_else(|| Error::column_not_found(&self.name, name))
    }
}

/// The definition of a column to add.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NewColumn {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–63 characters. Some names are reserved.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// True if its values may be null (default).
    #[serde(default = "yes")]
    pub nullable: bool,
    /// The value of a row that is inserted without one, in the form in which it would be sent; at most 4 KiB. Existing
    /// rows do not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
}

impl NewColumn {
    /// Creates the definition of a nullable column without a default.
    #[must_use]
    pub fn new(name: &str, kind: ColumnType) -> Self {
        Self { name: name.to_owned(), kind, nullable: true, default: None }
    }

    /// Makes the column refuse null.
    #[must_use]
    pub fn required(self) -> Self {
        Self { nullable: false, ..self }
    }

    /// Sets the default, at most [`MAX_DEFAULT`] bytes of JSON.
    #[must_use]
    pub fn with_default(self, default: Json) -> Self {
        Self { default: Some(default), ..self }
    }

    fn validate(self) -> Result<Column> {
        ident::validate_column_name(&self.name)?;
        let Self { name, kind, nullable, default } = self;
        let column = Column { name, kind, nullable, system: false, default };
        let text = column.default.as_ref().map(Json::to_string).unwrap_or_default();
        if text.len() > MAX_DEFAULT {
            return Err(Error::invalid_value(format!("a default has at most {MAX_DEFAULT} bytes")));
        }
        column.default_value()?;
        Ok(column)
    }
}

fn yes() -> bool {
    true
}

/// The definition of a table to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTable {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–48 characters. Some names are reserved.
    pub name: String,
    /// The columns besides `id` and `created_at`; at most 64.
    #[serde(default)]
    pub columns: Vec<NewColumn>,
    /// True if anyone may read every row.
    #[serde(default)]
    pub public_read: bool,
    /// The name of the table again; required for a public table.
    #[serde(default)]
    pub confirm_public: Option<String>,
}

impl NewTable {
    /// Creates the definition of a private table with the columns `id` and `created_at` alone.
    ///
    /// ```
    /// use backend_data::{ColumnType, NewColumn, NewTable};
    ///
    /// let table = NewTable::new("notes").with_column(NewColumn::new("title", ColumnType::Text).required());
    /// let json = r#"{"name":"notes","columns":[{"name":"title","type":"text","nullable":false}]}"#;
    /// assert_eq!(serde_json::from_str::<NewTable>(json)?, table);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Adds a column.
    #[must_use]
    pub fn with_column(mut self, column: NewColumn) -> Self {
        self.columns.push(column);
        self
    }

    /// Makes every row readable by anyone.
    #[must_use]
    pub fn public(mut self) -> Self {
        self.public_read = true;
        self.confirm_public = Some(self.name.clone());
        self
    }
}

/// The catalog of a project at one version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The version, which each change increases by one. Statements are compiled for one version.
    #[serde(skip)]
    pub version: u64,
    /// The tables, in the order of creation.
    pub tables: Vec<Table>,
}

impl Catalog {
    /// Writes the catalog as a store keeps it. The version is not in the text and is stored beside it.
    ///
    /// # Errors
    /// Never for a catalog that this crate made.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Reads a catalog as a store kept it.
    ///
    /// # Errors
    /// If the text is not one that [`Catalog::to_json`] writes.
    pub fn from_json(version: u64, text: &str) -> serde_json::Result<Self> {
        Ok(Self { version, ..serde_json::from_str(text)? })
    }

    /// Returns the table of this name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    pub(crate) fn get_table(&self, name: &str) -> Result<&Table> {
        self.table(name).ok_or_else(|| Error::table_not_found(name))
    }

    pub(crate) fn get_table_mut(&mut self, name: &str) -> Result<&mut Table> {
        self.tables.iter_mut().find(|table| table.name == name).ok_or_else(|| Error::table_not_found(name))
    }

    pub(crate) fn create_table(&mut self, new: NewTable, created_at: String) -> Result<&Table> {
        ident::validate_table_name(&new.name)?;
        if new.columns.len() > MAX_NEW_COLUMNS {
            return Err(Error::invalid_request(format!(
                "a table is created with at most {MAX_NEW_COLUMNS} columns"
            )));
        }
        if new.public_read && new.confirm_public.as_deref() != Some(&new.name) {
            return Err(Error::invalid_request(
                "a public table can be read by anyone: confirm it with its name in `confirmPublic`",
            ));
        }
        let mut columns = vec![
            Column {
                name: "id".into(),
                kind: ColumnType::Text,
                nullable: false,
                system: true,
                default: None,
            },
            Column {
                name: "created_at".into(),
                kind: ColumnType::Timestamp,
                nullable: false,
                system: true,
                default: None,
            },
        ];
        let mut names = BTreeSet::new();
        for column in new.columns {
            let column = column.validate()?;
            if !names.insert(column.name.clone()) {
                return Err(Error::invalid_request(format!(
                    "column {} is given twice",
                    Quoted(&column.name)
                )));
            }
            columns.push(column);
        }
        if self.table(&new.name).is_some() {
            let message = format!("table {} exists already", Quoted(&new.name));
            return Err(Error::conflict("table_exists", "42P07", message));
        }
        if self.tables.len() >= MAX_TABLES {
            let message = format!("a project has at most {MAX_TABLES} tables");
            return Err(Error::conflict("too_many_tables", "54000", message));
        }
        self.tables.push(Table {
            name: new.name,
            columns,
            public_read: new.public_read,
            rules: Vec::new(),
            indexes: Vec::new(),
            row_count: None,
            created_at,
        });
        self.tables.last().ok_or_else(|| Error::internal("the table is not in the catalog"))
    }

    pub(crate) fn add_column(&mut self, table: &str, new: NewColumn) -> Result<(&Table, Column)> {
        let table = self.get_table_mut(table)?;
        let column = new.validate()?;
        if table.column(&column.name).is_some() {
            return Err(Error::column_exists(&column.name));
        }
        if table.columns.len() >= MAX_COLUMNS {
            let message = format!("a table has at most {MAX_COLUMNS} columns");
            return Err(Error::conflict("too_many_columns", "54011", message));
        }
        table.columns.push(column.clone());
        Ok((table, column))
    }

    pub(crate) fn drop_table(&mut self, table: &str) -> Result<()> {
        self.get_table(table)?;
        self.tables.retain(|other| other.name != table);
        Ok(())
    }

    pub(crate) fn set_rules(&mut self, table: &str, rules: Vec<Rule>) -> Result<&Table> {
        let table = self.get_table_mut(table)?;
        table.rules = rules::validate_rules(table, rules)?;
        Ok(table)
    }

    pub(crate) fn set_public_read(&mut self, table: &str, public: bool) -> Result<&Table> {
        let table = self.get_table_mut(table)?;
        table.public_read = public;
        Ok(table)
    }
}
