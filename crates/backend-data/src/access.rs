//! Who calls, as the rules see it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What a secret key or an app's binding may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Scope {
    /// Read rows.
    #[serde(rename = "rows:read")]
    RowsRead,
    /// Insert, update and delete rows.
    #[serde(rename = "rows:write")]
    RowsWrite,
    /// Make tables and columns.
    #[serde(rename = "schema:write")]
    SchemaWrite,
}

impl Scope {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RowsRead => "rows:read",
            Self::RowsWrite => "rows:write",
            Self::SchemaWrite => "schema:write",
        }
    }
}

/// A person signed in to the customer's own site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Person {
    /// Who it is: the token's `sub`, what a rule calls `me`.
    pub subject: String,
    /// The roles the token gives.
    pub roles: Vec<String>,
    /// Every claim of the token.
    pub claims: BTreeMap<String, Json>,
}

/// Who asks for rows. Whoever embeds the engine finds out who it is; the engine decides what that one may do.
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
    /// The console of somebody who manages the project: everything.
    Owner,
    /// A secret key or an app: what its scopes and tables allow; rules do not apply.
    Service {
        /// What it may do.
        scopes: Vec<Scope>,
        /// The tables it may use; all where nothing is said.
        tables: Option<Vec<String>>,
    },
    /// Anyone with the publishable key: what the rules allow.
    Visitor,
    /// A signed-in person: what the rules allow.
    Person(Person),
}

impl Access {
    /// A service with the given scopes on every table.
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

    /// Whether a table is within the list this caller is limited to.
    pub(crate) fn covers_table(&self, table: &str) -> bool {
        match self {
            Self::Service { tables: Some(tables), .. } => tables.iter().any(|name| name == table),
            _ => true,
        }
    }
}
