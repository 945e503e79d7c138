//! Problems of workspaces, members, invites and join domains.

use workspace::{
    InvalidInput, WorkspaceError, invites::MAX_PENDING, join_domains::DnsLookupError, workspaces::MAX_CREATED,
};

use crate::problem::Problem;

impl From<WorkspaceError> for Problem {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::InvalidInput(error) => error.into(),
            WorkspaceError::WorkspaceNotFound => Self::not_found("workspace"),
            WorkspaceError::TooManyWorkspaces => Self::conflict(
                "too_many_workspaces",
                format!("You have created {MAX_CREATED} workspaces, and a person can create no more."),
            )
            .hint("Delete one that nobody needs. It counts for the seven days in which it can be restored."),
            WorkspaceError::WorkspaceNotDeleted => {
                Self::conflict("workspace_not_deleted", "This workspace is not deleted.")
            }
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

impl From<InvalidInput> for Problem {
    fn from(error: InvalidInput) -> Self {
        let (field, rule): (&str, &'static str) = match error {
            InvalidInput::Name => ("name", "must have 2 to 60 printable characters"),
            InvalidInput::IntentCount => ("intents", "must have at most three items"),
            InvalidInput::Timezone => ("timezone", "must be an IANA time zone such as Asia/Almaty"),
            InvalidInput::HourlyCost => ("hourlyCostMinor", "must be from 0 to 1000000000"),
            InvalidInput::AccessEnd => ("accessEndsAt", "must be in the future"),
            InvalidInput::ConfirmationName => ("confirmName", "must be the exact name of the workspace"),
            InvalidInput::EmailCount => ("emails", "must hold 1 to 20 addresses"),
            InvalidInput::LinkLifetime => ("expiresInDays", "must be from 1 to 30"),
            InvalidInput::DomainName => {
                ("domain", "must be a domain name such as example.com, of 3 to 253 characters")
            }
        };
        Self::invalid_field(field, rule)
    }
}

impl From<DnsLookupError> for Problem {
    fn from(error: DnsLookupError) -> Self {
        Self::unavailable("dns_unreachable", "The DNS lookup for this domain failed.")
            .hint("Try again in a few minutes, and check that the domain's name servers respond.")
            .caused_by(error)
    }
}
