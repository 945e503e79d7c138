//! The tables of a project, and the changes that may be made to them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    error::{Error, ErrorKind, Quoted, Result},
    ident,
    index::Index,
    rule::{self, Rule},
    value::Value,
};

/// The most tables of a project.
pub const MAX_TABLES: usize = 64;
/// The most columns given when a table is made.
pub const MAX_NEW_COLUMNS: usize = 64;
/// The most columns of a table, with `id` and `created_at`.
pub const MAX_COLUMNS: usize = MAX_NEW_COLUMNS + 2;

/// The most bytes of a column's default, as JSON.
pub const MAX_DEFAULT: usize = 4096;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// Unicode text without NUL.
    Text,
    /// A signed 64-bit integer.
    Integer,
    /// A finite 64-bit floating point number.
    Real,
    /// True or false.
    Boolean,
    /// An instant, to the microsecond, in UTC.
    Timestamp,
    /// Any JSON value.
    Json,
}

impl ColumnType {
    /// The name on the wire.
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Column {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–63 characters.
    pub name: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// Whether it may be null.
    pub nullable: bool,
    /// Whether Qala added it (`id` and `created_at`).
    pub system: bool,
    /// What a row has that is inserted without a value; null where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value, required = false))]
    pub default: Option<Json>,
}

impl Column {
    /// What a row has that is inserted without a value.
    pub(crate) fn default_value(&self) -> Result<Option<Value>> {
        self.default.as_ref().map(|default| Value::from_json(self, &default.to_string())).transpose()
    }
}

/// A table, as the schema shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// A lowercase letter, then lowercase letters, digits and underscores; 1–48 characters.
    pub name: String,
    /// `id` first, `created_at` second, then the rest in the order they were added.
    pub columns: Vec<Column>,
    /// Whether anyone may read every row.
    pub public_read: bool,
    /// What visitors and signed-in people may do.
    pub rules: Vec<Rule>,
    /// What makes filters and orders fast, in the order they were made.
    #[serde(default)]
    pub indexes: Vec<Index>,
    /// How many rows it holds, where that was counted.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub row_count: Option<u64>,
    /// When it was made.
    pub created_at: String,
}

impl Table {
    /// The column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The columns whose conflict an upsert resolves, with their places: `id`, or those of a unique index, which the rows
    /// give. They come in the order of the index, in whatever order they are named, so that upserts by the same values
    /// lock rows in the same order.
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
                "`on_conflict` names {}, which the rows do not give",
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
                "Make one on exactly the columns that `on_conflict` names, with `\"unique\": true`.",
            )
        })?;
        index.columns.iter().map(|name| position_of(name)).collect()
    }

    pub(crate) fn get_column(&self, name: &str) -> Result<&Column> {
        self.column(name).ok_or_else(|| Error::column_not_found(&self.name, name))
    }
}

/// A column to be added.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewColumn {
    /// See [`Column::name`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::ColumnName))]
    pub name: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// Whether it may be null; true where nothing is said.
    #[serde(default = "yes")]
    pub nullable: bool,
    /// What a row has that is inserted without a value, as it would be sent. Rows that are there already stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value, required = false))]
    pub default: Option<Json>,
}

impl NewColumn {
    /// A nullable column.
    #[must_use]
    pub fn new(name: &str, kind: ColumnType) -> Self {
        Self { name: name.to_owned(), kind, nullable: true, default: None }
    }

    /// The same column, refusing null.
    #[must_use]
    pub fn required(self) -> Self {
        Self { nullable: false, ..self }
    }

    /// The same column with a default.
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

/// A table to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewTable {
    /// See [`Table::name`].
    #[cfg_attr(feature = "openapi", schema(value_type = crate::TableName))]
    pub name: String,
    /// Its columns beside `id` and `created_at`, at most 64.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 64))]
    pub columns: Vec<NewColumn>,
    /// Whether anyone may read every row.
    #[serde(default)]
    pub public_read: bool,
    /// The name of the table again, required to make it public.
    #[serde(default)]
    pub confirm_public: Option<String>,
}

impl NewTable {
    /// A private table without columns of its own.
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

    /// The same table with one more column.
    #[must_use]
    pub fn with_column(mut self, column: NewColumn) -> Self {
        self.columns.push(column);
        self
    }

    /// The same table, readable by anyone.
    #[must_use]
    pub fn public(mut self) -> Self {
        self.public_read = true;
        self.confirm_public = Some(self.name.clone());
        self
    }
}

/// The tables of one project at one version. Every change makes the next version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Rises by one with every change.
    #[serde(skip)]
    pub version: u64,
    /// In the order they were made.
    pub tables: Vec<Table>,
}

impl Catalog {
    /// The catalog as a store keeps it, beside its version.
    ///
    /// # Errors
    /// Never for a catalog this crate made.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// A catalog as a store kept it.
    ///
    /// # Errors
    /// When the text is not one that [`Catalog::to_json`] wrote.
    pub fn from_json(version: u64, text: &str) -> serde_json::Result<Self> {
        Ok(Self { version, ..serde_json::from_str(text)? })
    }

    /// The table of this name.
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
                "a table is made with at most {MAX_NEW_COLUMNS} columns"
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
            let message = format!("column {} exists already", Quoted(&column.name));
            return Err(Error::conflict("column_exists", "42701", message));
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
        table.rules = rule::validate_rules(table, rules)?;
        Ok(table)
    }

    pub(crate) fn set_public_read(&mut self, table: &str, public: bool) -> Result<&Table> {
        let table = self.get_table_mut(table)?;
        table.public_read = public;
        Ok(table)
    }
}
