//! Indexes of tables. An index that serves a filter and an order makes them cost the same however many rows a table
//! has.

use serde::{Deserialize, Serialize};

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
}

impl Index {
    /// Returns true if the index is unique and on exactly these columns, in any order. `names` has no duplicates.
    pub(crate) fn is_unique_on(&self, names: &[String]) -> bool {
        self.unique
            && self.columns.len() == names.len()
            && names.iter().all(|name| self.columns.contains(name))
    }
}
