//! Callers, as the engine and the row rules see them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A permission of a secret key or of an app's binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// Read rows.
    #[serde(rename = "rows:read")]
    RowsRead,
    /// Insert, update and delete rows.
    #[serde(rename = "rows:write")]
    RowsWrite,
    /// Create and drop tables and indexes, and add columns.
    #[serde(rename = "schema:write")]
    SchemaWrite,
}

impl Scope {
    /// Returns the name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RowsRead => "rows:read",
            Self::RowsWrite => "rows:write",
            Self::SchemaWrite => "schema:write",
        }
    }
}

/// A signed-in user of the project, as a verified token describes them. The engine verifies no tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Person {
    /// The identity of the person: the `sub` of the token (RFC 7519, section 4.1.2), which a rule calls `me`. An empty
    /// one matches no row.
    pub subject: String,
    /// The roles that the token gives, which [`Audience::Role`](crate::rule::Audience::Role) compares to.
    pub roles: Vec<String>,
    /// Every claim of the token by its name.
    pub claims: BTreeMap<String, Json>,
}

/// The caller of a request. The embedding service authenticates callers; the engine authorizes them.
///
/// ```
/// use backend_data::{Access, Person, Scope};
///
/// let reader = Access::service([Scope::RowsRead]);
/// let ann = Access::Person(Person { subject: "ann".into(), roles: vec!["clerk".into()], ..Person::default() });
/// assert_ne!(reader, ann);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// Somebody who manages the project: may do everything.
    Owner,
    /// A secret key or an app: may do what its scopes and tables allow; rules do not apply.
    Service {
        /// The permissions of the service.
        scopes: Vec<Scope>,
        /// The names of the tables it may use; `None` for all of them.
        tables: Option<Vec<String>>,
    },
    /// A caller with a publishable key who is not signed in: may do what the rules allow.
    Visitor,
    /// A signed-in person: may do what the rules allow.
    Person(Person),
}

impl Access {
    /// Creates a service with these scopes on every table.
    #[must_use]
    pub fn service(scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self::Service { scopes: scopes.into_iter().collect(), tables: None }
    }

    pub(crate) fn has_scope(&self, scope: Scope) -> bool {
        match self {
            Self::Owner => true,
            Self::Service { scopes, .. } => scopes.contains(&scope),
            Self::Visitor | Self::Person(_) => false,
        }
    }

    /// Returns true unless the caller is limited to other tables.
    pub(crate) fn covers_table(&self, table: &str) -> bool {
        match self {
            Self::Service { tables: Some(tables), .. } => tables.iter().any(|name| name == table),
            _ => true,
        }
    }
}
