//! The sender of a request (specification part A, "Authentication").

mod viewed_role;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::id::{GrantId, ProjectId, ProjectKeyId, SessionId, TokenId, UserId, WorkspaceId};

pub use viewed_role::ViewedRole;

/// The sender of a request. It is authenticated, but nothing is known yet about what they may do; see
/// [`authority`](crate::authority).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// A sender without a valid credential.
    Anonymous,
    /// A person signed in to the console.
    Session(SessionCaller),
    /// A personal access token or an agent's access token, which acts for its person in one workspace.
    Token(TokenCaller),
    /// A key of one backend project.
    ProjectKey(ProjectKeyCaller),
    /// Qala itself: a worker or an operator's command. The name appears in the audit log.
    System(&'static str),
}

/// A person signed in to the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCaller {
    /// The session of the browser.
    pub session: SessionId,
    /// The person.
    pub user: UserId,
    /// The workspace that is open in the session; `None` until one is.
    pub workspace: Option<WorkspaceId>,
    /// True if the person used the development sign-in.
    pub is_dev_login: bool,
    /// Role as which the person views the workspace in this request; `None` for their own.
    pub view_as: Option<ViewedRole>,
}

/// A token that acts for its person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCaller {
    /// The token.
    pub token: TokenId,
    /// The person for whom it acts.
    pub user: UserId,
    /// The only workspace in which it works.
    pub workspace: WorkspaceId,
    /// The scopes of the token.
    pub scopes: Scopes,
    /// The grant of the agent; `None` for a personal access token.
    pub grant: Option<GrantId>,
}

/// A key of one backend project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectKeyCaller {
    /// The key.
    pub key: ProjectKeyId,
    /// The only project to which it gives access.
    pub project: ProjectId,
}

impl Caller {
    /// Returns the person who sends the request, or for whom a token acts.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        match self {
            Self::Session(session) => Some(session.user),
            Self::Token(token) => Some(token.user),
            Self::Anonymous | Self::ProjectKey(_) | Self::System(_) => None,
        }
    }

    /// Returns the role as which the person views the workspace in this request; `None` for their own.
    #[must_use]
    pub fn view_as(&self) -> Option<ViewedRole> {
        match self {
            Self::Session(session) => session.view_as,
            _ => None,
        }
    }

    /// Returns true if a program sends the request, with a personal access token or an agent's access token.
    #[must_use]
    pub fn is_token(&self) -> bool {
        matches!(self, Self::Token(_))
    }

    /// Returns `true` if the caller's credential allows what `scope` does; only a token can lack it.
    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        match self {
            Self::Token(token) => token.scopes.allows(scope),
            _ => true,
        }
    }

    /// Returns the grant of an agent; `None` for everybody else.
    #[must_use]
    pub fn grant(&self) -> Option<GrantId> {
        match self {
            Self::Token(token) => token.grant,
            _ => None,
        }
    }
}

/// A scope of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Scope {
    /// Reads.
    Read,
    /// Makes changes; implies `read`.
    Write,
    /// Manages the workspace; implies `write`.
    Admin,
}

crate::names! {
    Scope {
        Read = "read",
        Write = "write",
        Admin = "admin",
    }
}

/// A non-empty set of [`Scope`]s. A wider scope implies the narrower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Creates the set of `scopes`.
    ///
    /// # Errors
    /// [`InvalidScopes`] when the list is empty or has a scope twice.
    pub fn new(scopes: &[Scope]) -> Result<Self, InvalidScopes> {
        let mut bits = 0;
        for scope in scopes {
            let bit = 1 << *scope as u8;
            if bits & bit != 0 {
                return Err(InvalidScopes::Repeated);
            }
            bits |= bit;
        }
        if bits == 0 {
            return Err(InvalidScopes::Empty);
        }
        Ok(Self(bits))
    }

    /// Creates the set of one scope.
    #[must_use]
    pub const fn of(scope: Scope) -> Self {
        Self(1 << scope as u8)
    }

    /// Returns the set with one more scope.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    /// Returns true if these scopes include or imply `scope`.
    #[must_use]
    pub fn allows(self, scope: Scope) -> bool {
        self.0 >> scope as u8 != 0
    }

    /// Returns the scopes that were given, without the implied ones, narrowest first.
    #[must_use]
    pub fn to_vec(self) -> Vec<Scope> {
        Scope::ALL.into_iter().filter(|scope| self.0 & (1 << *scope as u8) != 0).collect()
    }
}

/// Error of a list of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidScopes {
    /// The list has a scope twice.
    #[error("a scope is listed twice")]
    Repeated,
    /// The list is empty.
    #[error("no scope is listed")]
    Empty,
    /// A name is that of no scope.
    #[error("a scope is unknown")]
    Unknown,
}

/// Writes the names separated by spaces, as stores keep them.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.to_vec().into_iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

impl FromStr for Scopes {
    type Err = InvalidScopes;

    fn from_str(text: &str) -> Result<Self, InvalidScopes> {
        let scopes = text.split_ascii_whitespace().map(Scope::from_str).collect::<Result<Vec<_>, _>>();
        Self::new(&scopes.map_err(|_| InvalidScopes::Unknown)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_scope_implies_the_narrower() {
        let write = Scopes::new(&[Scope::Write]).unwrap();
        assert!(write.allows(Scope::Read) && write.allows(Scope::Write) && !write.allows(Scope::Admin));
        let read = Scopes::new(&[Scope::Read]).unwrap();
        assert!(read.allows(Scope::Read) && !read.allows(Scope::Write));
    }

    #[test]
    fn scopes_survive_the_store_and_refuse_nonsense() {
        let scopes = Scopes::new(&[Scope::Admin, Scope::Read]).unwrap();
        assert_eq!(scopes.to_string(), "read admin");
        assert_eq!(scopes.to_string().parse::<Scopes>().unwrap(), scopes);
        assert!(Scopes::new(&[]).is_err() && Scopes::new(&[Scope::Read, Scope::Read]).is_err());
        assert!("read root".parse::<Scopes>().is_err());
    }
}
