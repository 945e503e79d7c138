//! Signed-in browsers.

mod end;
mod end_one;
mod end_others;
mod open;
mod step_up;
mod user_agent;

use std::{fmt, net::IpAddr, str::FromStr};

use chrono::TimeDelta;
use kernel::{
    Timestamp,
    caller::SessionCaller,
    id::{SessionId, UserId, WorkspaceId},
};

pub use end::end_session;
pub use end_one::end_one_session;
pub use end_others::end_other_sessions;
pub use open::{OpenedSession, SignInClient, open_session};
pub use step_up::{STEP_UP_LIFETIME, StepUpProof, require_step_up, step_up};
pub use user_agent::describe_user_agent;

/// How many sessions a person may have; one more ends the one that was seen least recently.
pub const MAX_SESSIONS: u64 = 100;
/// How long a session lasts at most.
pub const LIFETIME: TimeDelta = TimeDelta::days(30);
/// How long a session lasts in which nothing is asked.
pub const IDLE_TIMEOUT: TimeDelta = TimeDelta::days(7);

/// How a person proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInMethod {
    /// A code by e-mail.
    Email,
    /// The development sign-in.
    Dev,
    /// A passkey.
    Passkey,
    /// Another issuer's word (OpenID Connect).
    Oidc,
}

impl SignInMethod {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Dev => "dev",
            Self::Passkey => "passkey",
            Self::Oidc => "oidc",
        }
    }
}

impl FromStr for SignInMethod {
    type Err = UnknownSignInMethod;

    fn from_str(text: &str) -> Result<Self, UnknownSignInMethod> {
        [Self::Email, Self::Dev, Self::Passkey, Self::Oidc]
            .into_iter()
            .find(|method| method.as_str() == text)
            .ok_or(UnknownSignInMethod)
    }
}

/// The text names no [`SignInMethod`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownSignInMethod;

impl fmt::Display for UnknownSignInMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no way to sign in")
    }
}

/// A signed-in browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session's id; the cookie holds a secret instead.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// The workspace open in it.
    pub workspace: Option<WorkspaceId>,
    /// Whether it began with the development sign-in.
    pub is_dev_login: bool,
    /// How the person proved who they are.
    pub method: SignInMethod,
    /// When they did.
    pub authenticated_at: Timestamp,
    /// When a passkey last proved the person in this session.
    pub stepped_up_at: Option<Timestamp>,
    /// From where it was opened.
    pub client_ip: Option<IpAddr>,
    /// The browser and system it was opened in, as [`describe_user_agent`] names them.
    pub device: Option<String>,
    /// When it was last used, to the minute or so.
    pub last_seen_at: Timestamp,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends by itself at the latest.
    pub expires_at: Timestamp,
}

impl Session {
    /// When it ends unless it is used again.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.expires_at.min(self.last_seen_at + IDLE_TIMEOUT)
    }

    /// The caller this session makes, while it lasts.
    #[must_use]
    pub fn caller(&self, now: Timestamp) -> Option<SessionCaller> {
        (now < self.ends_at()).then_some(SessionCaller {
            session: self.id,
            user: self.user,
            workspace: self.workspace,
            is_dev_login: self.is_dev_login,
        })
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;

    use super::*;

    #[test]
    fn a_session_ends_when_it_is_idle_or_old() {
        let start = Timestamp::UNIX_EPOCH;
        let session = |last_seen_at| Session {
            id: Id::from_uuid(Default::default()),
            user: Id::from_uuid(Default::default()),
            workspace: None,
            is_dev_login: false,
            method: SignInMethod::Email,
            authenticated_at: start,
            stepped_up_at: None,
            client_ip: None,
            device: None,
            last_seen_at,
            created_at: start,
            expires_at: start + LIFETIME,
        };
        let moment = TimeDelta::milliseconds(1);
        let unused = session(start);
        assert!(unused.caller(start + IDLE_TIMEOUT - moment).is_some());
        assert!(unused.caller(start + IDLE_TIMEOUT).is_none());
        let used = session(start + LIFETIME - moment);
        assert!(used.caller(start + LIFETIME - moment).is_some());
        assert!(used.caller(start + LIFETIME).is_none());
    }
}
