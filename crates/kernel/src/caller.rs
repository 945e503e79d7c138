//! Who is asking (specification part A, "Authentication").

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    id::{GrantId, ProjectId, ProjectKeyId, SessionId, TokenId, UserId, WorkspaceId},
};

/// The one who makes a request. Knowing who it is says nothing yet about what they may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// Nobody we know.
    Anonymous,
    /// A person signed in to the console.
    Session(SessionCaller),
    /// A personal access token or an agent sign-in, acting for its person in one workspace.
    Token(TokenCaller),
    /// A key to one backend project.
    ProjectKey(ProjectKeyCaller),
    /// Qala itself: a worker or an administrator's command. The name goes into the audit log.
    System(&'static str),
}

/// A person signed in to the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCaller {
    /// The browser's session.
    pub session: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// The workspace open in this session, if any yet.
    pub workspace: Option<WorkspaceId>,
    /// Whether the person came in through the development sign-in.
    pub is_dev_login: bool,
}

/// A token acting for its person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCaller {
    /// The token.
    pub token: TokenId,
    /// For whom it acts.
    pub user: UserId,
    /// The only workspace it works in.
    pub workspace: WorkspaceId,
    /// What it may be used for.
    pub scopes: Scopes,
    /// The agent sign-in it is of; none for a personal access token.
    pub grant: Option<GrantId>,
}

/// A key to one backend project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectKeyCaller {
    /// The key.
    pub key: ProjectKeyId,
    /// The only project it opens.
    pub project: ProjectId,
}

impl Caller {
    /// The person behind the request, if there is one.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        match self {
            Self::Session(session) => Some(session.user),
            Self::Token(token) => Some(token.user),
            Self::Anonymous | Self::ProjectKey(_) | Self::System(_) => None,
        }
    }

    /// Whether a program asks, with a personal access token or an agent's sign-in.
    #[must_use]
    pub fn is_token(&self) -> bool {
        matches!(self, Self::Token(_))
    }
}

/// The name of the caller in the audit log: an id or a worker's name, never a secret.
impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("visitor"),
            Self::Session(session) => session.user.fmt(f),
            Self::Token(TokenCaller { user, grant: Some(grant), .. }) => write!(f, "{user} by {grant}"),
            Self::Token(token) => write!(f, "{} by {}", token.user, token.token),
            Self::ProjectKey(key) => key.key.fmt(f),
            Self::System(name) => write!(f, "system:{name}"),
        }
    }
}

/// What a token may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Scope {
    /// Look at things.
    Read,
    /// Change things; implies `read`.
    Write,
    /// Manage the workspace; implies `write`.
    Admin,
}

/// A set of [`Scope`]s, not empty. A wider scope implies the narrower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// The set of `scopes`.
    ///
    /// # Errors
    /// 400 when the list is empty or holds one scope twice.
    pub fn new(scopes: &[Scope]) -> Result<Self, Problem> {
        let mut bits = 0;
        for scope in scopes {
            let bit = 1 << *scope as u8;
            if bits & bit != 0 {
                return Err(Problem::invalid_field("scopes", "holds one scope twice"));
            }
            bits |= bit;
        }
        if bits == 0 {
            return Err(Problem::invalid_field("scopes", "must hold at least one of read, write, admin"));
        }
        Ok(Self(bits))
    }

    /// The one scope.
    #[must_use]
    pub const fn of(scope: Scope) -> Self {
        Self(1 << scope as u8)
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    /// Whether these scopes allow what needs `scope`.
    #[must_use]
    pub fn allows(self, scope: Scope) -> bool {
        self.0 >> scope as u8 != 0
    }

    /// The scopes as they were given, narrowest first.
    #[must_use]
    pub fn to_vec(self) -> Vec<Scope> {
        [Scope::Read, Scope::Write, Scope::Admin]
            .into_iter()
            .filter(|scope| self.0 & (1 << *scope as u8) != 0)
            .collect()
    }
}

/// Space-separated names, as stores keep them.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.to_vec().into_iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(match scope {
                Scope::Read => "read",
                Scope::Write => "write",
                Scope::Admin => "admin",
            })?;
        }
        Ok(())
    }
}

impl FromStr for Scopes {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let scopes = text
            .split_ascii_whitespace()
            .map(|name| match name {
                "read" => Ok(Scope::Read),
                "write" => Ok(Scope::Write),
                "admin" => Ok(Scope::Admin),
                _ => Err(Problem::invalid_field("scopes", "may hold read, write, admin")),
            })
            .collect::<Result<Vec<_>, _>>()?;
        Self::new(&scopes)
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
