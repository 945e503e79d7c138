//! Names: of projects, tables and columns.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use crate::error::{Error, Quoted};

/// The id of a project: 1 to 64 of lowercase letters, digits and underscores.
///
/// The narrow alphabet makes it safe inside file and schema names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectId(Arc<str>);

impl ProjectId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProjectId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        // An id that cannot exist is one that does not exist.
        if fits { Ok(Self(text.into())) } else { Err(Error::project_not_found()) }
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for ProjectId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Where a project's rows are: its id and the shard that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProjectRef {
    /// The project.
    pub id: ProjectId,
    /// Which of several clusters or directories holds it; 0 where there is one.
    pub shard: u16,
}

impl ProjectRef {
    /// A project on the given shard.
    #[must_use]
    pub fn new(id: ProjectId, shard: u16) -> Self {
        Self { id, shard }
    }
}

/// The most characters of a table name.
pub const MAX_TABLE_NAME: usize = 48;
/// The most characters of a column name.
pub const MAX_COLUMN_NAME: usize = 63;

/// Names the query string or the database takes for itself.
const RESERVED_COLUMNS: [&str; 21] = [
    "select",
    "order",
    "limit",
    "offset",
    "columns",
    "on_conflict",
    "and",
    "or",
    "not",
    "cursor",
    "apikey",
    "rowid",
    "oid",
    "tableoid",
    "ctid",
    "xmin",
    "xmax",
    "cmin",
    "cmax",
    "id",
    "created_at",
];

fn is_identifier(text: &str, most: usize) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && text.len() <= most
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

pub(crate) fn validate_table_name(name: &str) -> Result<(), Error> {
    if !is_identifier(name, MAX_TABLE_NAME) {
        return Err(Error::invalid_request(format!(
            "table name {} must be a lowercase letter followed by lowercase letters, digits and underscores, at most {MAX_TABLE_NAME}",
            Quoted(name)
        )));
    }
    // `rest/v1` is where supabase-js looks, `rpc` is where PostgREST calls functions.
    if matches!(name, "v1" | "rpc") || name.starts_with("sqlite_") || name.starts_with("pg_") {
        return Err(Error::invalid_request(format!("table name {} is reserved", Quoted(name))));
    }
    Ok(())
}

pub(crate) fn validate_column_name(name: &str) -> Result<(), Error> {
    if !is_identifier(name, MAX_COLUMN_NAME) {
        return Err(Error::invalid_request(format!(
            "column name {} must be a lowercase letter followed by lowercase letters, digits and underscores, at most {MAX_COLUMN_NAME}",
            Quoted(name)
        )));
    }
    if RESERVED_COLUMNS.contains(&name) {
        return Err(Error::invalid_request(format!("column name {} is reserved", Quoted(name))));
    }
    Ok(())
}

/// A lowercase pattern name, as rules and claims have.
pub(crate) fn is_lowercase_name(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_ids_have_a_narrow_alphabet() {
        assert!("proj_01h455vb4pex5vsknk084sn02q".parse::<ProjectId>().is_ok());
        for bad in ["", "../x", "A", "a b", "a-b", "é", &"a".repeat(65)] {
            assert!(bad.parse::<ProjectId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_that_the_language_or_a_database_owns_are_refused() {
        for bad in ["", "_x", "1a", "Notes", "sqlite_master", "pg_class", "v1", "a\"b"] {
            assert!(validate_table_name(bad).is_err(), "{bad}");
        }
        for bad in ["select", "ctid", "rowid", "id", "and", "a-b", &"a".repeat(64)] {
            assert!(validate_column_name(bad).is_err(), "{bad}");
        }
        assert!(validate_column_name("and_more").is_ok());
    }
}
