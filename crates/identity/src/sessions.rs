//! Signed-in browsers.

mod end;
mod open;

use chrono::TimeDelta;
use kernel::{
    Timestamp,
    caller::SessionCaller,
    id::{SessionId, UserId, WorkspaceId},
};

pub use end::end_session;
pub use open::{Opened, open_session};

/// How long a session lasts at most.
pub const LIFETIME: TimeDelta = TimeDelta::days(30);

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
    pub dev_login: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

impl Session {
    /// The caller this session makes, while it lasts.
    #[must_use]
    pub fn caller(&self, now: Timestamp) -> Option<SessionCaller> {
        (now < self.expires_at).then_some(SessionCaller {
            session: self.id,
            user: self.user,
            workspace: self.workspace,
            dev_login: self.dev_login,
        })
    }
}
