//! What invites need from a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{InviteId, UserId, WorkspaceId},
    token::Digest,
};

use super::Invite;
use crate::members::MembersTx;

/// Reads that need no transaction.
#[async_trait]
pub trait InvitesRead: Send + Sync {
    /// A workspace's invites, newest first, settled ones included; the newest 500.
    async fn invites(&self, workspace: WorkspaceId) -> Result<Vec<Invite>, StoreError>;

    /// Whom one of a workspace's invites is for.
    async fn invite_address(
        &self,
        workspace: WorkspaceId,
        invite: InviteId,
    ) -> Result<Option<String>, StoreError>;

    /// The invite whose newest link has a token stored under one of these digests.
    async fn find_invite_by_digest(&self, digests: &[Digest]) -> Result<Option<Invite>, StoreError>;
}

/// Writes, and the reads they decide by. Whoever writes has locked the workspace's members.
#[async_trait]
pub trait InvitesTx: MembersTx {
    /// As [`InvitesRead::find_invite_by_digest`], within the transaction.
    async fn invite_by_digest(&mut self, digests: &[Digest]) -> Result<Option<Invite>, StoreError>;

    /// One of a workspace's invites.
    async fn invite(
        &mut self,
        workspace: WorkspaceId,
        invite: InviteId,
    ) -> Result<Option<Invite>, StoreError>;

    /// How many invites of a workspace wait and have not expired.
    async fn count_pending(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError>;

    /// Which of these addresses are of members who have access at `now`.
    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        emails: &[String],
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError>;

    /// Adds an invite.
    async fn insert_invite(&mut self, invite: &Invite, digest: &Digest) -> Result<(), StoreError>;

    /// Writes everything of an invite that changes; with a digest its link too, so that the one before leads nowhere.
    async fn update_invite(&mut self, invite: &Invite, digest: Option<&Digest>) -> Result<(), StoreError>;

    /// Revokes what a person sent and still waits, expired ones included; which these were.
    async fn revoke_invites_of(
        &mut self,
        workspace: WorkspaceId,
        inviter: UserId,
        at: Timestamp,
    ) -> Result<Vec<InviteId>, StoreError>;

    /// Revokes what still waits for an address, expired ones included; how many there were.
    async fn revoke_pending(
        &mut self,
        workspace: WorkspaceId,
        email: &str,
        at: Timestamp,
    ) -> Result<u64, StoreError>;
}
