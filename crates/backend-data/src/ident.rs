//! Names of projects, tables and columns, and the rules they keep.

use std::{
    borrow::Borrow,
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
    sync::Arc,
};

use crate::error::{Error, Quoted};

/// The id of a project: 1 to 64 lowercase ASCII letters, digits and underscores.
///
/// The narrow alphabet makes an id safe inside file names and schema names. Parse one from text; anything else is
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound), since no project can have such an id.
///
/// ```
/// use backend_data::{ErrorKind, ProjectId};
///
/// let id: ProjectId = "shop".parse()?;
/// assert_eq!(id.as_str(), "shop");
/// assert_eq!("../shop".parse::<ProjectId>().unwrap_err().kind(), ErrorKind::NotFound);
/// # Ok::<(), backend_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectId(Arc<str>);

impl ProjectId {
    /// Returns the id as text.
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
        // No project can have such an id, so the error is that of an unknown one.
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

/// The id of a share: the projects that name it have at most half of a store's threads or connections together, as one project
/// alone has. Choose one for each of those who can create as many projects as they like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShareId(pub u128);

/// The location of a project's rows: its id and the shard that holds it. The share is not part of the location, so that
/// references with and without one are equal.
#[derive(Clone, Debug)]
pub struct ProjectRef {
    /// The id of the project.
    pub id: ProjectId,
    /// The number of the directory or database that holds the rows; 0 if there is only one.
    pub shard: u16,
    /// The share that requests for the project use; `None` for one of its own.
    pub share: Option<ShareId>,
}

impl ProjectRef {
    /// Creates a reference to a project on a shard, with a share of its own.
    #[must_use]
    pub fn new(id: ProjectId, shard: u16) -> Self {
        Self { id, shard, share: None }
    }

    /// Names the share that requests for the project use.
    #[must_use]
    pub fn with_share(self, share: ShareId) -> Self {
        Self { share: Some(share), ..self }
    }
}

impl PartialEq for ProjectRef {
    fn eq(&self, other: &Self) -> bool {
        self.shard == other.shard && self.id == other.id
    }
}

impl Eq for ProjectRef {}

impl Hash for ProjectRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
        self.shard.hash(state);
    }
}

/// Maximum length of a table name in characters.
pub const MAX_TABLE_NAME: usize = 48;
/// Maximum length of a column name in characters; PostgreSQL cuts longer identifiers.
pub const MAX_COLUMN_NAME: usize = 63;

/// Column names that have a meaning in the query string or in a database, or that every table has.
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
    // supabase-js requests `rest/v1`, and PostgREST calls functions under `rpc`.
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

/// Returns true if `text` can name a rule, a role or a claim: a lowercase letter, then lowercase letters, digits,
/// underscores and hyphens.
pub(crate) fn is_lowercase_name(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_not_part_of_a_location() {
        let project = |shard| ProjectRef::new("shop".parse().unwrap(), shard);
        let shared = project(0).with_share(ShareId(7));
        let known = std::collections::HashSet::from([project(0)]);
        assert_eq!(project(0), shared);
        assert!(known.contains(&shared));
        assert_ne!(project(0), project(1));
    }

    #[test]
    fn project_ids_have_a_narrow_alphabet() {
        assert!("proj_01h455vb4pex5vsknk084sn02q".parse::<ProjectId>().is_ok());
        for bad in ["", "../x", "A", "a b", "a-b", "é", &"a".repeat(65)] {
            assert!(bad.parse::<ProjectId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn invalid_and_reserved_names_are_refused() {
        for bad in ["", "_x", "1a", "Notes", "sqlite_master", "pg_class", "v1", "a\"b"] {
            assert!(validate_table_name(bad).is_err(), "{bad}");
        }
        for bad in ["select", "ctid", "rowid", "id", "and", "a-b", &"a".repeat(64)] {
            assert!(validate_column_name(bad).is_err(), "{bad}");
        }
        assert!(validate_column_name("and_more").is_ok());
    }
}
