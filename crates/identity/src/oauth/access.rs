//! Access levels of agent clients.

use std::{fmt, str::FromStr};

use kernel::{
    Problem,
    caller::{Scope, Scopes},
};
use serde::{Deserialize, Serialize};

/// Access of an agent client to its workspace; never more than its person has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentAccess {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

impl AgentAccess {
    /// Returns the name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// Returns the value of the parameter `scope` in responses (RFC 6749, section 3.3).
    #[must_use]
    pub fn scope(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "read write",
        }
    }

    /// Parses the parameter `scope` of a request; none if it holds an unknown scope. An empty value requests
    /// [`AgentAccess::Read`]. `offline_access` has no effect, since every client gets a refresh token.
    #[must_use]
    pub fn from_scope(text: &str) -> Option<Self> {
        text.split(' ').filter(|name| !name.is_empty()).try_fold(Self::Read, |access, name| match name {
            "read" | "offline_access" => Some(access),
            "write" => Some(Self::Write),
            _ => None,
        })
    }

    /// Returns the scopes of a token with this access.
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
    fn a_scope_parses_to_the_least_access() {
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
