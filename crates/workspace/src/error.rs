//! What can go wrong with workspaces and the people in them.

use kernel::{Problem, ProblemKind, StoreError};

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A field is out of its bounds.
    #[error("{field} {what}")]
    InvalidField {
        /// The field's name on the wire.
        field: &'static str,
        /// What it must be.
        what: &'static str,
    },
    /// There is none, or the caller may not see it.
    #[error("there is no such workspace")]
    WorkspaceNotFound,
    /// The workspace has no such member, or their access has ended.
    #[error("there is no such member")]
    MemberNotFound,
    /// Only admins and owners may.
    #[error("only an admin may do this")]
    AdminOnly,
    /// Only owners may.
    #[error("only an owner may do this")]
    OwnerOnly,
    /// The workspace would be left without an owner.
    #[error("the last owner stays")]
    LastOwner,
    /// An owner's access has no end.
    #[error("an owner's access has no end")]
    OwnerAccessCannotExpire,
    /// Ownership was to be transferred to oneself.
    #[error("the caller owns it already")]
    AlreadyOwner,
    /// People who are members already were invited.
    #[error("members were invited")]
    AlreadyMembers(Vec<String>),
    /// Too many invites wait.
    #[error("too many invites wait")]
    TooManyInvites,
    /// There is no such invite, or it is worth nothing any more.
    #[error("there is no such invite")]
    InviteNotFound,
    /// The invite was sent to another address.
    #[error("the invite is for another address")]
    WrongInviteEmail,
    /// The invite has expired.
    #[error("the invite has expired")]
    InviteExpired,
    /// The invite was accepted before.
    #[error("the invite was accepted already")]
    InviteAccepted,
    /// Whoever sent the invite may invite nobody any more.
    #[error("the inviter may not invite any more")]
    InviteWithdrawn,
    /// The invite does not wait any more.
    #[error("the invite is settled")]
    InviteNotPending,
    /// Anybody can have an address of this domain.
    #[error("the domain is public")]
    PublicDomain,
    /// The workspace has no domain, or another one than was looked up.
    #[error("there is no join domain")]
    JoinDomainNotFound,
    /// The domain is not proved yet.
    #[error("the domain is not verified")]
    DomainNotVerified,
    /// Another workspace has proved the domain.
    #[error("another workspace has the domain")]
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
                Self::forbidden("admin_only", "Only an admin or owner of the workspace may do this.")
            }
            WorkspaceError::OwnerOnly => {
                Self::forbidden("forbidden", "Only an owner of the workspace may do this.")
            }
            WorkspaceError::LastOwner => {
                Self::conflict("last_owner", "A workspace keeps at least one owner, and this is the last.")
                    .hint("Make somebody else an owner first.")
            }
            WorkspaceError::OwnerAccessCannotExpire => {
                Self::conflict("owner_access_ends", "An owner's access has no end.")
                    .hint("Set `accessEndsAt` to null first.")
            }
            WorkspaceError::AlreadyOwner => {
                Self::conflict("already_owner", "You are an owner of the workspace yourself.")
                    .hint("Name the member who is to own it.")
            }
            WorkspaceError::AlreadyMembers(emails) => Self::conflict(
                "already_member",
                format!("Already in the workspace: {}. Nobody was invited.", emails.join(", ")),
            )
            .hint("Leave them out, or change their roles instead."),
            WorkspaceError::TooManyInvites => {
                Self::conflict("too_many_invites", "Too many invites of the workspace wait to be accepted.")
                    .hint("Revoke some that nobody will accept.")
            }
            WorkspaceError::InviteNotFound => Self::not_found("invite"),
            WorkspaceError::WrongInviteEmail => {
                Self::forbidden("wrong_address", "This invite is for another e-mail address.")
                    .hint("Sign in with the address that the invite was sent to.")
            }
            WorkspaceError::InviteExpired => Self::conflict("invite_expired", "The invite has expired.")
                .hint("Ask whoever invited you to send it again."),
            WorkspaceError::InviteAccepted => {
                Self::conflict("invite_accepted", "The invite was accepted already.")
            }
            WorkspaceError::InviteWithdrawn => Self::conflict(
                "invite_withdrawn",
                "The invite is no longer valid: whoever sent it can no longer invite people.",
            )
            .hint("Ask an admin of the workspace for a new invite."),
            WorkspaceError::InviteNotPending => {
                Self::conflict("invite_settled", "The invite does not wait any more.")
                    .hint("Invite the address anew.")
            }
            WorkspaceError::PublicDomain => {
                Self::invalid_field("domain", "is one where anybody can have an address")
                    .hint("Take a domain that is your organisation's own.")
            }
            WorkspaceError::JoinDomainNotFound => Self::not_found("join domain"),
            WorkspaceError::DomainNotVerified => {
                Self::conflict("domain_not_verified", "The domain is not verified yet.")
                    .hint("Publish the TXT record, then verify it.")
            }
            WorkspaceError::DomainTaken => Self::new(
                ProblemKind::Conflict,
                "domain_taken",
                "Another workspace has verified this domain.",
            )
            .hint("It is free again when that workspace gives it up."),
            WorkspaceError::Store(error) => error.into(),
        }
    }
}
