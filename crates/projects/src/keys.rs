//! Keys of a project's data API (specification part B, "ProjectKey").

mod create;
mod revoke;

use std::{fmt, str::FromStr};

use kernel::{
    Timestamp,
    id::{ProjectId, ProjectKeyId, UserId},
    names::UnknownName,
    token::TokenHint,
};
use serde::{Deserialize, Serialize};

pub use create::{CreateKey, CreatedKey, create_key};
pub use revoke::revoke_key;

/// The kind of a project key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// For browsers; limited by the tables' policies.
    Publishable,
    /// For servers; limited by its scopes and tables.
    Secret,
}

kernel::names! {
    KeyKind {
        Publishable = "publishable",
        Secret = "secret",
    }
}

/// A permission of a secret key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeyScope {
    /// Read rows.
    #[serde(rename = "rows:read")]
    RowsRead,
    /// Insert, update and delete rows.
    #[serde(rename = "rows:write")]
    RowsWrite,
    /// Create tables and columns.
    #[serde(rename = "schema:write")]
    SchemaWrite,
}

kernel::names! {
    KeyScope {
        RowsRead = "rows:read",
        RowsWrite = "rows:write",
        SchemaWrite = "schema:write",
    }
}

/// A set of [`KeyScope`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyScopes(u8);

impl KeyScopes {
    /// Returns `true` if the set contains `scope`.
    #[must_use]
    pub fn contains(self, scope: KeyScope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Returns the scopes in their order of declaration.
    #[must_use]
    pub fn to_vec(self) -> Vec<KeyScope> {
        KeyScope::ALL.into_iter().filter(|scope| self.contains(*scope)).collect()
    }
}

impl FromIterator<KeyScope> for KeyScopes {
    fn from_iter<I: IntoIterator<Item = KeyScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | 1 << scope as u8))
    }
}

/// Space-separated names, as in stores.
impl fmt::Display for KeyScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.to_vec().into_iter().map(KeyScope::as_str).collect();
        f.write_str(&names.join(" "))
    }
}

impl FromStr for KeyScopes {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        text.split_ascii_whitespace().map(KeyScope::from_str).collect()
    }
}

/// A stored key. Its value is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectKey {
    /// Id of the key.
    pub id: ProjectKeyId,
    /// Project that the key gives access to.
    pub project: ProjectId,
    /// Display name; 1 to 60 characters.
    pub name: String,
    /// Kind of the key.
    pub kind: KeyKind,
    /// Permissions of a secret key; empty for a publishable one.
    pub scopes: KeyScopes,
    /// Tables that a secret key may use; all if none.
    pub tables: Option<Vec<String>>,
    /// Part of the value that may be shown.
    pub hint: TokenHint,
    /// Person who created the key.
    pub created_by: UserId,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last use, to about a minute.
    pub last_used_at: Option<Timestamp>,
    /// Time of revocation.
    pub revoked_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_stored_by_name() {
        let scopes: KeyScopes = [KeyScope::SchemaWrite, KeyScope::RowsRead].into_iter().collect();
        assert_eq!(scopes.to_string(), "rows:read schema:write");
        assert_eq!("rows:read schema:write".parse::<KeyScopes>().unwrap(), scopes);
        assert!(scopes.contains(KeyScope::RowsRead) && !scopes.contains(KeyScope::RowsWrite));
        assert_eq!("".parse::<KeyScopes>().unwrap(), KeyScopes::default());
        assert!("rows:read rows:delete".parse::<KeyScopes>().is_err());
    }

    #[test]
    fn kinds_are_stored_by_name() {
        for kind in [KeyKind::Publishable, KeyKind::Secret] {
            assert_eq!(kind.as_str().parse::<KeyKind>().unwrap(), kind);
        }
        assert!("public".parse::<KeyKind>().is_err());
    }
}
