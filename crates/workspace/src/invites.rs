//! Invites: letting one person in by their address (specification part A, "Invites").
//!
//! The link holds a token that is kept as a digest only. It opens nothing by itself: whoever follows it must be signed
//! in with the address the invite was sent to.

mod accept;
mod create;
mod email;
mod inspect;
mod link;
mod ports;
mod preview;
mod resend;
mod revoke;
mod revoke_all;

use std::str::FromStr;

use kernel::{
    Problem, Timestamp,
    authority::Role,
    id::{InviteId, UserId, WorkspaceId},
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use accept::{AcceptInviteOutcome, accept_invite};
pub use create::{CreateInvites, create_invites};
pub use email::InviteDelivery;
pub use inspect::inspect_invite;
pub use ports::{InvitesRead, InvitesTx};
pub use preview::preview_invite;
pub use resend::resend_invite;
pub use revoke::revoke_invite;
pub use revoke_all::revoke_invites_of;

/// How many people one request invites at most.
pub const MAX_EMAILS: usize = 20;
/// How many days an invite is good when nobody says.
pub const DEFAULT_LIFETIME_DAYS: u16 = 7;
/// How many invites of a workspace may wait at once.
pub const MAX_PENDING: u64 = 500;

/// What somebody may be invited as: everything but owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum InviteRole {
    /// Manages the workspace and its people.
    Admin,
    /// Makes apps and automations.
    Builder,
    /// Runs what is shared.
    Member,
    /// Looks at what is shared with the whole workspace.
    Viewer,
}

impl InviteRole {
    /// The role itself.
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::Admin => Role::Admin,
            Self::Builder => Role::Builder,
            Self::Member => Role::Member,
            Self::Viewer => Role::Viewer,
        }
    }
}

impl FromStr for InviteRole {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Admin, Self::Builder, Self::Member, Self::Viewer]
            .into_iter()
            .find(|role| role.role().as_str() == text)
            .ok_or_else(|| Problem::invalid_field("role", "must be admin, builder, member or viewer"))
    }
}

/// An invite. Its link's token is nowhere in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    /// The invite's id.
    pub id: InviteId,
    /// Into which workspace.
    pub workspace: WorkspaceId,
    /// The invited address, as signing in compares addresses.
    pub email: String,
    /// As what.
    pub role: InviteRole,
    /// Who sent it last.
    pub invited_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// For how many days each of its links is good, 1 to 30.
    pub lifetime_days: u16,
    /// When its newest link ends by itself.
    pub expires_at: Timestamp,
    /// When the access that it gives ends.
    pub access_ends_at: Option<Timestamp>,
    /// What has become of it.
    pub state: InviteState,
}

/// What has become of an invite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InviteState {
    /// It waits for its person, until it expires.
    Pending,
    /// Its person came.
    Accepted {
        /// Who.
        by: UserId,
        /// When.
        at: Timestamp,
    },
    /// It was taken back, or another one took its place.
    Revoked {
        /// When.
        at: Timestamp,
    },
}

/// How an invite stands, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum InviteStatus {
    /// It can be accepted.
    Pending,
    /// It was.
    Accepted,
    /// It was taken back.
    Revoked,
    /// Nobody came in time.
    Expired,
}

impl Invite {
    /// How it stands at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> InviteStatus {
        match self.state {
            InviteState::Pending if now < self.expires_at => InviteStatus::Pending,
            InviteState::Pending => InviteStatus::Expired,
            InviteState::Accepted { .. } => InviteStatus::Accepted,
            InviteState::Revoked { .. } => InviteStatus::Revoked,
        }
    }
}

/// An invite with a fresh link, which is kept nowhere.
#[derive(Debug)]
pub struct IssuedInvite {
    /// The invite.
    pub invite: Invite,
    /// What its person follows.
    pub link: SecretString,
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_invite_waits_until_its_very_moment() {
        let expires_at = Timestamp::from_timestamp_millis(1_000).unwrap();
        let invite = |state| Invite {
            id: Id::from_uuid(Uuid::nil()),
            workspace: Id::from_uuid(Uuid::nil()),
            email: "aru@example.com".to_owned(),
            role: InviteRole::Member,
            invited_by: Id::from_uuid(Uuid::nil()),
            created_at: Timestamp::UNIX_EPOCH,
            lifetime_days: 7,
            expires_at,
            access_ends_at: None,
            state,
        };
        let before = expires_at - TimeDelta::milliseconds(1);
        let pending = invite(InviteState::Pending);
        assert_eq!(
            (pending.status(before), pending.status(expires_at)),
            (InviteStatus::Pending, InviteStatus::Expired)
        );
        let by = Id::from_uuid(Uuid::nil());
        assert_eq!(
            invite(InviteState::Accepted { by, at: before }).status(expires_at),
            InviteStatus::Accepted
        );
        assert_eq!(invite(InviteState::Revoked { at: before }).status(expires_at), InviteStatus::Revoked);
    }

    #[test]
    fn nobody_is_invited_as_owner() {
        assert!("owner".parse::<InviteRole>().is_err());
        assert_eq!("admin".parse::<InviteRole>().unwrap().role(), Role::Admin);
    }
}
