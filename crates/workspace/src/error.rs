//! The errors of this domain.

use kernel::{Problem, StoreError};

use crate::invites::MAX_PENDING;

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A field is out of its bounds.
    #[error("`{field}` {what}")]
    InvalidField {
        /// The name of the field on the wire.
        field: &'static str,
        /// The rule that was broken, as in "must be in the future".
        what: &'static str,
    },
    /// The workspace does not exist, or the caller may not see it.
    #[error("there is no such workspace")]
    WorkspaceNotFound,
    /// The person is not a member, or their access has ended.
    #[error("there is no such member")]
    MemberNotFound,
    /// The caller is not an admin or owner.
    #[error("the caller is not an admin or owner")]
    AdminOnly,
    /// The caller is not an owner.
    #[error("the caller is not an owner")]
    OwnerOnly,
    /// The workspace would be left without an owner.
    #[error("the workspace would be left without an owner")]
    LastOwner,
    /// An owner would have an end of access.
    #[error("an owner's access cannot expire")]
    OwnerAccessCannotExpire,
    /// The caller tried to transfer ownership to themselves.
    #[error("the caller already owns the workspace")]
    AlreadyOwner,
    /// Some of the invited addresses, listed here, belong to members.
    #[error("some of the invited addresses belong to members")]
    AlreadyMembers(Vec<String>),
    /// The workspace would have more than [`MAX_PENDING`] pending invites.
    #[error("the workspace has too many pending invites")]
    TooManyInvites,
    /// The invite does not exist, was revoked, or has a newer link.
    #[error("there is no such invite")]
    InviteNotFound,
    /// The invite was sent to another address.
    #[error("the invite is for another address")]
    WrongInviteEmail,
    /// The invite has expired.
    #[error("the invite has expired")]
    InviteExpired,
    /// The invite was accepted before.
    #[error("the invite has already been accepted")]
    InviteAccepted,
    /// The sender of the invite can no longer invite people.
    #[error("the sender of the invite can no longer invite people")]
    InviteWithdrawn,
    /// The invite was accepted or revoked, or the access it would give has ended.
    #[error("the invite is no longer pending")]
    InviteNotPending,
    /// Anyone can have an address at this domain.
    #[error("the domain is public")]
    PublicDomain,
    /// The workspace has no join domain, or not the one that was looked up.
    #[error("there is no join domain")]
    JoinDomainNotFound,
    /// The domain is not verified.
    #[error("the domain is not verified")]
    DomainNotVerified,
    /// Another workspace has verified the domain.
    #[error("another workspace has verified the domain")]
    DomainTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<WorkspaceError> for Problem {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::InvalidField { field, what } => Self::invalid_field(field, what),
            WorkspaceError::WorkspaceNotFound => Self::not_found("workspace"),
            WorkspaceError::MemberNotFound => Self::not_found("member"),
            WorkspaceError::AdminOnly => {
                Self::forbidden("admin_only", "Only admins and owners of the workspace can do this.")
            }
            WorkspaceError::OwnerOnly => {
                Self::forbidden("forbidden", "Only owners of the workspace can do this.")
            }
            WorkspaceError::LastOwner => Self::conflict(
                "last_owner",
                "A workspace needs at least one owner, and this is the last one.",
            )
            .hint("Make someone else an owner first."),
            WorkspaceError::OwnerAccessCannotExpire => {
                Self::conflict("owner_access_ends", "An owner's access cannot expire.")
                    .hint("Set `accessEndsAt` to null first.")
            }
            WorkspaceError::AlreadyOwner => {
                Self::conflict("already_owner", "You already own this workspace.")
                    .hint("Choose another member as the new owner.")
            }
            WorkspaceError::AlreadyMembers(emails) => Self::conflict(
                "already_member",
                format!("Already members: {}. Nobody was invited.", emails.join(", ")),
            )
            .hint("Remove these addresses from the list, or change the roles of these members."),
            WorkspaceError::TooManyInvites => Self::conflict(
                "too_many_invites",
                format!("A workspace can have at most {MAX_PENDING} pending invites."),
            )
            .hint("Revoke the invites that you no longer need."),
            WorkspaceError::InviteNotFound => Self::not_found("invite"),
            WorkspaceError::WrongInviteEmail => {
                Self::forbidden("wrong_address", "This invite is for another e-mail address.")
                    .hint("Sign in with the address the invite was sent to.")
            }
            WorkspaceError::InviteExpired => Self::conflict("invite_expired", "The invite has expired.")
                .hint("Ask whoever invited you to send it again."),
            WorkspaceError::InviteAccepted => {
                Self::conflict("invite_accepted", "The invite has already been accepted.")
            }
            WorkspaceError::InviteWithdrawn => Self::conflict(
                "invite_withdrawn",
                "The invite is no longer valid: its sender can no longer invite people.",
            )
            .hint("Ask an admin of the workspace for a new invite."),
            WorkspaceError::InviteNotPending => {
                Self::conflict("invite_settled", "The invite is no longer pending.")
                    .hint("Invite the address again.")
            }
            WorkspaceError::PublicDomain => {
                Self::invalid_field("domain", "is a domain where anyone can have an address")
                    .hint("Use a domain that belongs to your organisation.")
            }
            WorkspaceError::JoinDomainNotFound => Self::not_found("join domain"),
            WorkspaceError::DomainNotVerified => {
                Self::conflict("domain_not_verified", "The domain is not verified.")
                    .hint("Publish the TXT record, then verify the domain.")
            }
            WorkspaceError::DomainTaken => {
                Self::conflict("domain_taken", "Another workspace has verified this domain.")
                    .hint("It becomes available when that workspace gives it up.")
            }
            WorkspaceError::Store(error) => error.into(),
        }
    }
}
