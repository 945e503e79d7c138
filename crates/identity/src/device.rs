//! Signing a command line in from a browser (RFC 8628; specification part A, "Command-line device login").
//!
//! A command line asks for two codes. It keeps the long one and shows the short one. A person types the short one
//! into a page where they are signed in, sees who asks for what, and approves or denies. The command line, which has
//! been asking with the long one, is then given a token once.

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

/// How long a login is open.
pub const LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// How long a command line waits between two questions; each that comes too early adds as much again.
pub const POLL_INTERVAL: TimeDelta = TimeDelta::seconds(5);
/// How much too early a question may come without being told so: clocks and networks are not exact.
pub const POLL_LEEWAY: TimeDelta = TimeDelta::milliseconds(500);
/// How many logins may be open at once.
pub const MAX_OPEN: u64 = 2_000;
/// How many logins may be open at once from one address, so that one host cannot take all of them.
pub const MAX_OPEN_PER_ADDRESS: u64 = 20;

/// What the token is for, in the command line's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Purpose {
    /// To work on the command line.
    #[default]
    Login,
    /// To be put elsewhere, as into a build server.
    Token,
}

impl Purpose {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Token => "token",
        }
    }
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLoginRequest {
    /// The program, in its own words; 1 to 60 characters.
    pub client: String,
    /// What the token is for.
    pub purpose: Purpose,
    /// What the token will be called; 1 to 60 characters.
    pub name: String,
    /// The most the token may be used for; never `admin`.
    pub scopes: Scopes,
    /// How many days the token shall last, 1 to 365.
    pub expires_in_days: u16,
    /// The machine, in its own words; 1 to 64 characters.
    pub host: Option<String>,
}

/// A command line's sign-in. Its codes are kept as digests beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLogin {
    /// The login's id.
    pub id: DeviceLoginId,
    /// What is asked for.
    pub request: DeviceLoginRequest,
    /// From where it was asked.
    pub client_ip: Option<IpAddr>,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// What was decided, as stored; [`DeviceLogin::state`] knows the time too.
    pub decision: DeviceLoginDecision,
}

/// What was decided about a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceLoginDecision {
    /// Nothing yet.
    Pending,
    /// A person allowed it; the token is made when the command line asks.
    Approved(DeviceApproval),
    /// A person refused it.
    Denied,
    /// The token was handed over.
    Delivered,
}

/// What a person allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceApproval {
    /// Who.
    pub approved_by: UserId,
    /// In which of their workspaces.
    pub workspace: WorkspaceId,
    /// What the token may be used for: at most what was asked.
    pub scopes: Scopes,
    /// How many days the token lasts, 1 to 365.
    pub expires_in_days: u16,
}

/// Where a login stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceLoginState {
    /// It waits for a person.
    Pending,
    /// It waits for the command line.
    Approved(DeviceApproval),
    /// A person refused it.
    Denied,
    /// The token was handed over; there is no second one.
    Delivered,
    /// Nobody decided, or nobody came for the token, in time.
    Expired,
}

impl DeviceLogin {
    /// Where it stands at a moment.
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
    fn what_is_open_expires_and_what_is_over_does_not() {
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
