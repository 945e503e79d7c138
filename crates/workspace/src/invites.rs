//! Inviting a person by their e-mail address (specification part A, "Invites").
//!
//! The link holds a token, of which only a digest is stored. The link alone grants nothing: the person who follows it
//! must be signed in with the address that was invited.

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

use kernel::{
    Timestamp,
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

/// Maximum number of addresses in one request.
pub const MAX_EMAILS: usize = 20;
/// Default lifetime of a link, in days.
pub const DEFAULT_LIFETIME_DAYS: u16 = 7;
/// Maximum number of invites of a workspace that are pending at once.
pub const MAX_PENDING: u64 = 500;

/// A role that an invite can give: any but owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InviteRole {
    /// Manages the workspace and its members.
    Admin,
    /// Creates and changes apps and automations.
    Builder,
    /// Views and runs shared apps.
    Member,
    /// Views apps that are shared with the whole workspace.
    Viewer,
}

kernel::names! {
    InviteRole {
        Admin = "admin",
        Builder = "builder",
        Member = "member",
        Viewer = "viewer",
    }
}

impl InviteRole {
    /// Returns the role as a [`Role`].
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

/// An invite, without the token of its link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    /// The id of the invite.
    pub id: InviteId,
    /// The workspace to join.
    pub workspace: WorkspaceId,
    /// The invited address, normalized.
    pub email: String,
    /// The role that the person gets.
    pub role: InviteRole,
    /// The person who sent it last.
    pub invited_by: UserId,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Lifetime of each of its links, in days, 1 to 30.
    pub lifetime_days: u16,
    /// Time at which the newest link expires, exclusive.
    pub expires_at: Timestamp,
    /// Time at which the access that it gives ends; `None` for no end.
    pub access_ends_at: Option<Timestamp>,
    /// The stored state.
    pub state: InviteState,
}

/// The stored state of an invite. Expiry is not stored; see [`Invite::status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InviteState {
    /// It can be accepted until it expires.
    Pending,
    /// The person accepted it.
    Accepted {
        /// The person.
        by: UserId,
        /// Time of acceptance.
        at: Timestamp,
    },
    /// It was revoked by an admin, replaced by a newer invite, or ended with its sender's right to invite or with the
    /// person's joining another way.
    Revoked {
        /// Time of revocation.
        at: Timestamp,
    },
}

/// The status of an invite at a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InviteStatus {
    /// It can be accepted.
    Pending,
    /// It was accepted.
    Accepted,
    /// It was revoked.
    Revoked,
    /// It was not accepted in time.
    Expired,
}

impl Invite {
    /// Returns the status at `now`.
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

/// An invite with a new link, which is not stored.
#[derive(Debug)]
pub struct IssuedInvite {
    /// The invite.
    pub invite: Invite,
    /// The URL for the invited person; secret.
    pub link: SecretString,
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_invite_is_pending_until_exactly_its_expiry() {
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
