//! The store that invites need.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{InviteId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};

use super::Invite;
use crate::members::MembersTx;

/// Reads that need no transaction.
#[async_trait]
pub trait InvitesRead: Send + Sync {
    /// Returns the invites of a workspace in any state, newest first; up to one more than the limit.
    async fn invites(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Vec<Invite>, StoreError>;

    /// Returns the address that an invite of a workspace is for.
    async fn invite_address(
        &self,
        workspace: WorkspaceId,
        invite: InviteId,
    ) -> Result<Option<String>, StoreError>;

    /// Returns the invite whose newest link has one of these token digests.
    async fn find_invite_by_digest(&self, digests: &[Digest]) -> Result<Option<Invite>, StoreError>;
}

/// Writes within a transaction, and the reads on which they depend. Callers lock the members of the workspace before they
/// write.
#[async_trait]
pub trait InvitesTx: MembersTx {
    /// Returns what [`InvitesRead::find_invite_by_digest`] returns, within the transaction.
    async fn invite_by_digest(&mut self, digests: &[Digest]) -> Result<Option<Invite>, StoreError>;

    /// Returns an invite of a workspace.
    async fn invite(
        &mut self,
        workspace: WorkspaceId,
        invite: InviteId,
    ) -> Result<Option<Invite>, StoreError>;

    /// Counts the invites of a workspace that are pending and have not expired at `now`.
    async fn count_pending(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError>;

    /// Returns those of these addresses that belong to members who have access at `now`.
    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        emails: &[String],
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError>;

    /// Adds an invite; [`StoreError::Duplicate`] when the address has a pending invite into the workspace.
    async fn insert_invite(&mut self, invite: &Invite, digest: &Digest) -> Result<(), StoreError>;

    /// Writes the sender, the expiry and the state of an invite. A digest replaces its link.
    async fn update_invite(&mut self, invite: &Invite, digest: Option<&Digest>) -> Result<(), StoreError>;

    /// Revokes the pending invites that a person sent, expired ones included, and returns them.
    async fn revoke_invites_of(
        &mut self,
        workspace: WorkspaceId,
        inviter: UserId,
        at: Timestamp,
    ) -> Result<Vec<InviteId>, StoreError>;

    /// Revokes the pending invites for an address, expired ones included, and returns their number.
    async fn revoke_pending(
        &mut self,
        workspace: WorkspaceId,
        email: &str,
        at: Timestamp,
    ) -> Result<u64, StoreError>;
}
