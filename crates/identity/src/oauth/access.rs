//! Access levels of agent clients.

use kernel::caller::{Scope, Scopes};
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

kernel::names! {
    AgentAccess {
        Read = "read",
        Write = "write",
    }
}

impl AgentAccess {
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
