//! What an agent client may do.

use std::{fmt, str::FromStr};

use kernel::{
    Problem,
    caller::{Scope, Scopes},
};
use serde::{Deserialize, Serialize};

/// What an agent client may do in its workspace; never more than its person may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AgentAccess {
    /// Look at things.
    Read,
    /// Look at things and change them.
    Write,
}

impl AgentAccess {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// The value of the parameter `scope`, as an answer gives it (RFC 6749 §3.3).
    #[must_use]
    pub fn scope(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "read write",
        }
    }

    /// What a client asks for with the parameter `scope`; none for a scope that there is not. Who names none asks for
    /// the least. `offline_access` changes nothing: every client gets a refresh token.
    #[must_use]
    pub fn from_scope(text: &str) -> Option<Self> {
        text.split(' ').filter(|name| !name.is_empty()).try_fold(Self::Read, |access, name| match name {
            "read" | "offline_access" => Some(access),
            "write" => Some(Self::Write),
            _ => None,
        })
    }

    /// The scopes of a token with this access.
    #[must_use]
    pub fn scopes(self) -> Scopes {
        match self {
            Self::Read => Scopes::of(Scope::Read),
            Self::Write => Scopes::of(Scope::Read).with(Scope::Write),
        }
    }
}

impl fmt::Display for AgentAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AgentAccess {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "read" => Ok(Self::Read),
            "write" => Ok(Self::Write),
            _ => Err(Problem::invalid_field("access", "must be read or write")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_read_as_the_least_it_can_mean() {
        for (scope, access) in [
            ("", Some(AgentAccess::Read)),
            ("read", Some(AgentAccess::Read)),
            ("write", Some(AgentAccess::Write)),
            ("read  write", Some(AgentAccess::Write)),
            ("read offline_access", Some(AgentAccess::Read)),
            ("admin", None),
            ("read Write", None),
            ("read\twrite", None),
        ] {
            assert_eq!(AgentAccess::from_scope(scope), access, "{scope:?}");
        }
        assert!(
            AgentAccess::Write.scopes().allows(Scope::Write)
                && !AgentAccess::Write.scopes().allows(Scope::Admin)
        );
        assert!(!AgentAccess::Read.scopes().allows(Scope::Write));
    }
}
