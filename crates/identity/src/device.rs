//! Device login of a command line (RFC 8628; specification part A, "Command-line device login").
//!
//! A command line starts a login and receives two codes. It keeps the device code and shows the user code. A person
//! enters the user code on a page where they are signed in, sees which program requests what, and approves or denies.
//! The command line polls with the device code and, once approved, receives a token exactly once.

mod approve;
mod check;
mod decide;
mod deny;
mod redeem;
mod start;
mod user_code;

use std::net::IpAddr;

use chrono::TimeDelta;
use kernel::{
    Timestamp,
    caller::Scopes,
    id::{DeviceLoginId, UserId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

pub use approve::{ApproveDeviceLogin, approve_device_login};
pub use check::{PollOutcome, check_device_login};
pub use deny::deny_device_login;
pub use redeem::{RedeemOutcome, redeem_device_login};
pub use start::{StartDeviceLogin, StartedDeviceLogin, start_device_login};
pub use user_code::UserCode;

/// Lifetime of a login, for the approval and the delivery of the token together.
pub const LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// Interval between two polls; each poll that comes too early lengthens it by as much (RFC 8628, section 3.5).
pub const POLL_INTERVAL: TimeDelta = TimeDelta::seconds(5);
/// Time by which a poll may come too early without being refused, since clocks and networks are not exact.
pub const POLL_LEEWAY: TimeDelta = TimeDelta::milliseconds(500);
/// Maximum number of open logins.
pub const MAX_OPEN: u64 = 2_000;
/// Maximum number of open logins from one network, so that one host cannot use up [`MAX_OPEN`].
pub const MAX_OPEN_PER_ADDRESS: u64 = 20;

/// Purpose of the token, as the command line gives it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Work on the command line.
    #[default]
    Login,
    /// Use elsewhere, such as on a build server.
    Token,
}

kernel::names! {
    Purpose {
        Login = "login",
        Token = "token",
    }
}

/// Token that a command line requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLoginRequest {
    /// Name of the program, as it calls itself; 1 to 60 characters.
    pub client: String,
    /// Purpose of the token.
    pub purpose: Purpose,
    /// Name of the token, 1 to 60 characters.
    pub name: String,
    /// Widest scopes the token may get; never `admin`.
    pub scopes: Scopes,
    /// Requested lifetime of the token in days, 1 to 365.
    pub expires_in_days: u16,
    /// Name of the machine, as it calls itself; 1 to 64 characters.
    pub host: Option<String>,
}

/// A login of a command line. Its codes are stored beside it, as digests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLogin {
    /// Id of the login.
    pub id: DeviceLoginId,
    /// Requested token.
    pub request: DeviceLoginRequest,
    /// IP address of the command line.
    pub client_ip: Option<IpAddr>,
    /// Time at which the login was started.
    pub created_at: Timestamp,
    /// Time at which the login expires.
    pub expires_at: Timestamp,
    /// Decision as stored; [`DeviceLogin::state`] takes the expiry into account.
    pub decision: DeviceLoginDecision,
}

/// Stored decision about a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceLoginDecision {
    /// Nobody has decided.
    Pending,
    /// A person approved it; the token is created at the next poll.
    Approved(DeviceApproval),
    /// A person denied it.
    Denied,
    /// The token was delivered, or the approver had left the workspace by then.
    Delivered,
}

/// Token that a person approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceApproval {
    /// Person who approved it and for whom the token acts.
    pub approved_by: UserId,
    /// Workspace of the token.
    pub workspace: WorkspaceId,
    /// Scopes of the token, at most the requested ones.
    pub scopes: Scopes,
    /// Lifetime of the token in days, 1 to 365.
    pub expires_in_days: u16,
}

/// State of a login at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceLoginState {
    /// Waits for a person.
    Pending,
    /// Approved; waits for the command line.
    Approved(DeviceApproval),
    /// A person denied it.
    Denied,
    /// Delivered; there is no second token.
    Delivered,
    /// Not decided, or approved and not delivered, in time.
    Expired,
}

impl DeviceLogin {
    /// Returns the state at `now`.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> DeviceLoginState {
        match &self.decision {
            DeviceLoginDecision::Denied => DeviceLoginState::Denied,
            DeviceLoginDecision::Delivered => DeviceLoginState::Delivered,
            DeviceLoginDecision::Pending | DeviceLoginDecision::Approved(_) if now >= self.expires_at => {
                DeviceLoginState::Expired
            }
            DeviceLoginDecision::Pending => DeviceLoginState::Pending,
            DeviceLoginDecision::Approved(approval) => DeviceLoginState::Approved(*approval),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;

    use super::*;

    #[test]
    fn an_open_login_expires_and_a_finished_one_does_not() {
        let approval = DeviceApproval {
            approved_by: Id::from_uuid(Default::default()),
            workspace: Id::from_uuid(Default::default()),
            scopes: "read".parse().unwrap(),
            expires_in_days: 1,
        };
        let login = |decision| DeviceLogin {
            id: Id::from_uuid(Default::default()),
            request: DeviceLoginRequest {
                client: "qala".to_owned(),
                purpose: Purpose::Login,
                name: "qala".to_owned(),
                scopes: "read".parse().unwrap(),
                expires_in_days: 90,
                host: None,
            },
            client_ip: None,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::UNIX_EPOCH + LIFETIME,
            decision,
        };
        let before = Timestamp::UNIX_EPOCH + LIFETIME - TimeDelta::milliseconds(1);
        let after = Timestamp::UNIX_EPOCH + LIFETIME;
        for (decision, open, over) in [
            (DeviceLoginDecision::Pending, DeviceLoginState::Pending, DeviceLoginState::Expired),
            (
                DeviceLoginDecision::Approved(approval),
                DeviceLoginState::Approved(approval),
                DeviceLoginState::Expired,
            ),
            (DeviceLoginDecision::Denied, DeviceLoginState::Denied, DeviceLoginState::Denied),
            (DeviceLoginDecision::Delivered, DeviceLoginState::Delivered, DeviceLoginState::Delivered),
        ] {
            let login = login(decision);
            assert_eq!((login.state(before), login.state(after)), (open, over));
        }
    }
}
