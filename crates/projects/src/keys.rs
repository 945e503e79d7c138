//! Keys to a project's data API (specification part B, "ProjectKey").

mod create;
mod revoke;

use std::{fmt, str::FromStr};

use kernel::{
    Problem, Timestamp,
    id::{ProjectId, ProjectKeyId, UserId},
    token::TokenHint,
};
use serde::{Deserialize, Serialize};

pub use create::{CreateKey, CreatedKey, create_key};
pub use revoke::revoke_key;

/// Who a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyKind {
    /// For browsers: limited by the tables' rules.
    Publishable,
    /// For servers: limited by its scopes and tables.
    Secret,
}

impl KeyKind {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publishable => "publishable",
            Self::Secret => "secret",
        }
    }
}

impl FromStr for KeyKind {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "publishable" => Ok(Self::Publishable),
            "secret" => Ok(Self::Secret),
            _ => Err(Problem::invalid_field("kind", "must be publishable or secret")),
        }
    }
}

/// What a secret key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum KeyScope {
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

impl KeyScope {
    const ALL: [(Self, &'static str); 3] =
        [(Self::RowsRead, "rows:read"), (Self::RowsWrite, "rows:write"), (Self::SchemaWrite, "schema:write")];

    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// A set of [`KeyScope`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyScopes(u8);

impl KeyScopes {
    /// Whether the set holds `scope`.
    #[must_use]
    pub fn contains(self, scope: KeyScope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// The scopes.
    #[must_use]
    pub fn to_vec(self) -> Vec<KeyScope> {
        KeyScope::ALL.into_iter().map(|(scope, _)| scope).filter(|scope| self.contains(*scope)).collect()
    }
}

impl FromIterator<KeyScope> for KeyScopes {
    fn from_iter<I: IntoIterator<Item = KeyScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | 1 << scope as u8))
    }
}

/// Space-separated names, as stores keep them.
impl fmt::Display for KeyScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.to_vec().into_iter().map(KeyScope::as_str).collect();
        f.write_str(&names.join(" "))
    }
}

impl FromStr for KeyScopes {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        text.split_ascii_whitespace()
            .map(|name| {
                KeyScope::ALL
                    .into_iter()
                    .find(|(_, known)| *known == name)
                    .map(|(scope, _)| scope)
                    .ok_or_else(|| {
                        Problem::invalid_field("scopes", "may hold rows:read, rows:write, schema:write")
                    })
            })
            .collect()
    }
}

/// What is kept of a key; never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectKey {
    /// The key's id.
    pub id: ProjectKeyId,
    /// The project it opens.
    pub project: ProjectId,
    /// What its maker calls it, 1 to 60 characters.
    pub name: String,
    /// Who it is for.
    pub kind: KeyKind,
    /// What a secret key may be used for.
    pub scopes: KeyScopes,
    /// The only tables a secret key may use; none for all.
    pub tables: Option<Vec<String>>,
    /// What may be shown of its value.
    pub hint: TokenHint,
    /// Who made it.
    pub created_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
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
