//! The errors of this domain.

use kernel::StoreError;

use crate::InvalidInput;

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A value of the input is refused.
    #[error(transparent)]
    InvalidInput(#[from] InvalidInput),
    /// The workspace does not exist, or the caller may not see it.
    #[error("there is no such workspace")]
    WorkspaceNotFound,
    /// The person has created as many workspaces as one may.
    #[error("the person has created too many workspaces")]
    TooManyWorkspaces,
    /// The workspace to restore is not deleted.
    #[error("the workspace is not deleted")]
    WorkspaceNotDeleted,
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
    /// The workspace would have more than [`MAX_PENDING`](crate::invites::MAX_PENDING) pending invites.
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
