//! Actors of audit entries.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    caller::{Caller, TokenCaller},
    id::{GrantId, ProjectKeyId, TokenId, UserId},
};

const VISITOR: &str = "visitor";
const SYSTEM_PREFIX: &str = "system:";
const BY: &str = " by ";

/// Pattern (SQL `LIKE`) that the text of each agent matches, and no other actor's.
pub const AGENT_PATTERN: &str = "% by grant_%";

/// Author of a change. [`Display`](fmt::Display) writes the text that the audit log stores, and [`FromStr`] reads it: ids
/// or the name of a worker, never a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Actor {
    /// A person.
    Person(UserId),
    /// A personal access token, for its person.
    Token {
        /// The person.
        user: UserId,
        /// The token.
        token: TokenId,
    },
    /// An agent with a grant, for its person.
    Agent {
        /// The person.
        user: UserId,
        /// The grant.
        grant: GrantId,
    },
    /// A key of a backend project.
    ProjectKey(ProjectKeyId),
    /// Qala itself: the name of a worker or of an operator's command.
    System(Cow<'static, str>),
    /// Somebody without a valid credential.
    Visitor,
}

impl Actor {
    /// Returns the person who made the change, or for whom it was made.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        match self {
            Self::Person(user) | Self::Token { user, .. } | Self::Agent { user, .. } => Some(*user),
            Self::ProjectKey(_) | Self::System(_) | Self::Visitor => None,
        }
    }

    /// Returns the personal access token that was used.
    #[must_use]
    pub fn token(&self) -> Option<TokenId> {
        match self {
            Self::Token { token, .. } => Some(*token),
            _ => None,
        }
    }

    /// Returns the grant of the agent that acted.
    #[must_use]
    pub fn grant(&self) -> Option<GrantId> {
        match self {
            Self::Agent { grant, .. } => Some(*grant),
            _ => None,
        }
    }

    /// Returns how the text of each token and agent of a person begins. No other actor's text begins so.
    #[must_use]
    pub fn delegate_prefix(user: UserId) -> String {
        format!("{user}{BY}")
    }
}

impl From<&Caller> for Actor {
    fn from(caller: &Caller) -> Self {
        match caller {
            Caller::Anonymous => Self::Visitor,
            Caller::Session(session) => Self::Person(session.user),
            Caller::Token(TokenCaller { user, grant: Some(grant), .. }) => {
                Self::Agent { user: *user, grant: *grant }
            }
            Caller::Token(TokenCaller { user, token, .. }) => Self::Token { user: *user, token: *token },
            Caller::ProjectKey(key) => Self::ProjectKey(key.key),
            Caller::System(name) => Self::System(Cow::Borrowed(name)),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(user) => user.fmt(f),
            Self::Token { user, token } => write!(f, "{user}{BY}{token}"),
            Self::Agent { user, grant } => write!(f, "{user}{BY}{grant}"),
            Self::ProjectKey(key) => key.fmt(f),
            Self::System(name) => write!(f, "{SYSTEM_PREFIX}{name}"),
            Self::Visitor => f.write_str(VISITOR),
        }
    }
}

/// Error of a text that is not an [`Actor`]'s.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an actor")]
pub struct InvalidActor(String);

impl FromStr for Actor {
    type Err = InvalidActor;

    fn from_str(text: &str) -> Result<Self, InvalidActor> {
        let parse = || {
            if text == VISITOR {
                return Some(Self::Visitor);
            }
            if let Some(name) = text.strip_prefix(SYSTEM_PREFIX) {
                return Some(Self::System(Cow::Owned(name.to_owned())));
            }
            let Some((user, delegate)) = text.split_once(BY) else {
                let person = text.parse().map(Self::Person);
                return person.or_else(|_| text.parse().map(Self::ProjectKey)).ok();
            };
            let user = user.parse().ok()?;
            let token = delegate.parse().map(|token| Self::Token { user, token });
            token.or_else(|_| delegate.parse().map(|grant| Self::Agent { user, grant })).ok()
        };
        parse().ok_or_else(|| InvalidActor(text.to_owned()))
    }
}

impl TryFrom<String> for Actor {
    type Error = InvalidActor;

    fn try_from(text: String) -> Result<Self, InvalidActor> {
        text.parse()
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> Self {
        actor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        caller::{ProjectKeyCaller, Scope, Scopes},
        testing::{id, session_of, token_of},
    };

    #[test]
    fn each_caller_is_an_actor_whose_stored_text_reads_back() {
        let user: UserId = id(1);
        let (token, grant, key): (TokenId, GrantId, ProjectKeyId) = (id(1), id(2), id(3));
        let personal = token_of(user, id(9), Scopes::of(Scope::Read));
        let Caller::Token(caller) = personal.clone() else { panic!("{personal:?}") };
        let agent = Caller::Token(TokenCaller { grant: Some(grant), ..caller });
        for (caller, text, person) in [
            (Caller::Anonymous, "visitor".to_owned(), None),
            (session_of(user), user.to_string(), Some(user)),
            (personal, format!("{user} by {token}"), Some(user)),
            (agent, format!("{user} by {grant}"), Some(user)),
            (Caller::ProjectKey(ProjectKeyCaller { key, project: id(4) }), key.to_string(), None),
            (Caller::System("rows"), "system:rows".to_owned(), None),
        ] {
            let actor = Actor::from(&caller);
            assert_eq!((actor.to_string(), actor.user()), (text.clone(), person));
            assert_eq!(text.parse(), Ok(actor.clone()));
            let json = serde_json::to_value(&actor).unwrap();
            assert_eq!(json, serde_json::json!(text));
            assert_eq!(serde_json::from_value::<Actor>(json).unwrap(), actor);
        }
    }

    #[test]
    fn only_a_personal_access_token_is_named_as_a_token() {
        let user = id(1);
        assert_eq!(Actor::Token { user, token: id(2) }.token(), Some(id(2)));
        for other in [Actor::Person(user), Actor::Agent { user, grant: id(2) }, Actor::Visitor] {
            assert_eq!(other.token(), None);
        }
    }

    #[test]
    fn the_text_of_an_agent_alone_has_the_infix_of_the_pattern() {
        let infix = AGENT_PATTERN.trim_matches('%');
        let user = id(1);
        assert!(Actor::Agent { user, grant: id(2) }.to_string().contains(infix));
        assert_eq!(Actor::Agent { user, grant: id(2) }.grant(), Some(id(2)));
        for other in
            [Actor::Person(user), Actor::Token { user, token: id(2) }, Actor::System("x by y".into())]
        {
            assert!(!other.to_string().contains(infix), "{other}");
            assert_eq!(other.grant(), None);
        }
    }

    #[test]
    fn the_delegates_of_a_person_are_known_by_how_their_text_begins() {
        let (user, other): (UserId, UserId) = (id(1), id(2));
        let prefix = Actor::delegate_prefix(user);
        for delegate in [Actor::Token { user, token: id(3) }, Actor::Agent { user, grant: id(3) }] {
            assert!(delegate.to_string().starts_with(&prefix));
        }
        for stranger in [Actor::Person(user), Actor::Token { user: other, token: id(3) }, Actor::Visitor] {
            assert!(!stranger.to_string().starts_with(&prefix));
        }
    }

    #[test]
    fn any_other_text_is_refused() {
        let user: UserId = id(1);
        for text in ["", "somebody", "visitor ", &format!("{user} by "), &format!("{user} by {user}"), " by "]
        {
            assert_eq!(text.parse::<Actor>(), Err(InvalidActor(text.to_owned())));
        }
    }
}
