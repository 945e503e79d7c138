//! Indexes of tables. An index that serves a filter and an order makes them cost the same however many rows a table
//! has.

use serde::{Deserialize, Serialize};

use crate::{
    catalog::{Catalog, ColumnType, Table},
    error::{Error, Quoted, Result},
};

/// Maximum number of indexes of a table. Each one makes every write a little slower.
pub const MAX_INDEXES: usize = 16;
/// Maximum number of columns of an index.
pub const MAX_INDEX_COLUMNS: usize = 4;

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// `ix1`, `ix2`, … in the order of creation. A name is used again only if no index created later exists.
    pub name: String,
    /// The columns it sorts rows by, most significant first. Rows that tie are sorted by `id`.
    pub columns: Vec<String>,
    /// True if no two rows may have the same values in all of the columns. Null is not a value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
}

/// The definition of an index to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewIndex {
    /// One to four columns that are not of type `json`: first those that filters compare by equality, then the one that
    /// rows are ordered by or that filters compare by range.
    pub columns: Vec<String>,
    /// Refuses a row that has the values of another one in all of the columns. Null is not a value: a row with a null
    /// among them is never refused. A unique index cannot include `id`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
}

impl NewIndex {
    /// Creates the definition of an index on these columns.
    #[must_use]
    pub fn on(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|column| (*column).to_owned()).collect(), unique: false }
    }

    /// Creates the definition of a unique index on one column.
    #[must_use]
    pub fn unique(column: &str) -> Self {
        Self::unique_on(&[column])
    }

    /// Creates the definition of a unique index on several columns together.
    ///
    /// ```
    /// use backend_data::NewIndex;
    ///
    /// let json = r#"{"columns":["team","email"],"unique":true}"#;
    /// assert_eq!(serde_json::to_string(&NewIndex::unique_on(&["team", "email"]))?, json);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn unique_on(columns: &[&str]) -> Self {
        Self { unique: true, ..Self::on(columns) }
    }

    fn validate(self, table: &Table) -> Result<Vec<String>> {
        if self.columns.is_empty() || self.columns.len() > MAX_INDEX_COLUMNS {
            return Err(Error::invalid_request(format!("an index has 1 to {MAX_INDEX_COLUMNS} columns")));
        }
        for (at, name) in self.columns.iter().enumerate() {
            let column = table.get_column(name)?;
            if column.kind == ColumnType::Json {
                return Err(Error::invalid_request(format!(
                    "column {} holds documents, which cannot be indexed",
                    Quoted(name)
                )));
            }
            if self.columns[..at].contains(name) {
                return Err(Error::invalid_request(format!("column {} is given twice", Quoted(name))));
            }
        }
        if self.columns == ["id"] {
            return Err(Error::invalid_request("every table already has an index on `id`"));
        }
        if self.unique && self.columns.iter().any(|name| name == "id") {
            return Err(Error::invalid_request(
                "no two rows have the same `id`: leave it out of a unique index",
            ));
        }
        Ok(self.columns)
    }
}

impl Index {
    /// Returns true if the index is unique and on exactly these columns, in any order. `names` has no duplicates.
    pub(crate) fn is_unique_on(&self, names: &[String]) -> bool {
        self.unique
            && self.columns.len() == names.len()
            && names.iter().all(|name| self.columns.contains(name))
    }
}

impl Catalog {
    pub(crate) fn add_index(&mut self, table: &str, new: NewIndex) -> Result<(&Table, Index)> {
        let table = self.get_table_mut(table)?;
        let unique = new.unique;
        let columns = new.validate(table)?;
        let same = |index: &&Index| index.columns == columns && (index.unique || !unique);
        if let Some(index) = table.indexes.iter().find(same) {
            let message = format!("index {} has the same columns", Quoted(&index.name));
            return Err(Error::conflict("index_exists", "42P07", message));
        }
        if table.indexes.len() >= MAX_INDEXES {
            let message = format!("a table has at most {MAX_INDEXES} indexes");
            return Err(Error::conflict("too_many_indexes", "54000", message));
        }
        let last = table.indexes.last().and_then(|index| index.name.strip_prefix("ix")?.parse().ok());
        let number = last.unwrap_or(0_u64).saturating_add(1);
        let index = Index { name: format!("ix{number}"), columns, unique };
        table.indexes.push(index.clone());
        Ok((table, index))
    }

    pub(crate) fn drop_index(&mut self, table: &str, name: &str) -> Result<(&Table, Index)> {
        let table = self.get_table_mut(table)?;
        let Some(at) = table.indexes.iter().position(|index| index.name == name) else {
            return Err(Error::index_not_found(&table.name, name));
        };
        let index = table.indexes.remove(at);
        Ok((table, index))
    }
}
