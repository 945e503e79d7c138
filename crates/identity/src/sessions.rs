//! Sessions: a person's sign-ins in one browser each.

mod end;
mod end_one;
mod end_others;
mod open;
mod step_up;
mod user_agent;

use std::net::IpAddr;

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

/// Maximum number of sessions of a person; opening another ends the one that was seen least recently.
pub const MAX_SESSIONS: u64 = 100;
/// Maximum lifetime of a session.
pub const LIFETIME: TimeDelta = TimeDelta::days(30);
/// Time after the last request at which a session expires.
pub const IDLE_TIMEOUT: TimeDelta = TimeDelta::days(7);

/// Way in which a person proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInMethod {
    /// A code or link sent by e-mail.
    Email,
    /// The development sign-in.
    Dev,
    /// A passkey.
    Passkey,
    /// An OpenID Connect issuer.
    Oidc,
}

kernel::names! {
    SignInMethod {
        Email = "email",
        Dev = "dev",
        Passkey = "passkey",
        Oidc = "oidc",
    }
}

/// A person's sign-in in one browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Id of the session; the cookie holds a secret instead.
    pub id: SessionId,
    /// Person who signed in.
    pub user: UserId,
    /// Workspace that is open in the session.
    pub workspace: Option<WorkspaceId>,
    /// True if the session began with the development sign-in.
    pub is_dev_login: bool,
    /// Way in which the person signed in.
    pub method: SignInMethod,
    /// Time of the sign-in.
    pub authenticated_at: Timestamp,
    /// Time at which the person last used a passkey in this session.
    pub stepped_up_at: Option<Timestamp>,
    /// IP address from which the session was opened.
    pub client_ip: Option<IpAddr>,
    /// Browser and system, as [`describe_user_agent`] names them.
    pub device: Option<String>,
    /// Time of the last request, accurate to about a minute.
    pub last_seen_at: Timestamp,
    /// Time at which the session was opened.
    pub created_at: Timestamp,
    /// Time at which the session expires at the latest, see [`Session::ends_at`].
    pub expires_at: Timestamp,
}

impl Session {
    /// Returns the time at which the session expires unless it is used again.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.expires_at.min(self.last_seen_at + IDLE_TIMEOUT)
    }

    /// Returns the caller of requests in this session; none once it has expired.
    #[must_use]
    pub fn caller(&self, now: Timestamp) -> Option<SessionCaller> {
        (now < self.ends_at()).then_some(SessionCaller {
            session: self.id,
            user: self.user,
            workspace: self.workspace,
            is_dev_login: self.is_dev_login,
            view_as: None,
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
