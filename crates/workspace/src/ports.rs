//! The store that workspaces need.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    authority::{MembershipFact, Role},
    id::{UserId, WorkspaceId},
    page::PageRequest,
};

use crate::{
    Plan,
    workspaces::{Workspace, WorkspaceSummary, deletion::DeletedWorkspace},
};

/// Reads that need no transaction.
#[async_trait]
pub trait WorkspaceRead: Send + Sync {
    /// Returns the membership of one person in one workspace, also when their access has ended; `None` in a deleted
    /// workspace.
    async fn membership(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError>;

    /// Returns a workspace that is not deleted.
    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<Workspace>, StoreError>;

    /// Returns the person who created a workspace, deleted or not; `None` if it is not known.
    async fn creator(&self, workspace: WorkspaceId) -> Result<Option<UserId>, StoreError>;

    /// Returns the membership of one person in one deleted workspace, also when their access has ended.
    async fn membership_in_deleted(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError>;

    /// Returns the number of members of a workspace who have access at `now`.
    async fn member_count(&self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError>;

    /// Returns the deleted workspaces that a person owns and that were deleted after `since`, oldest first; up to one
    /// more than the limit.
    async fn deleted_workspaces_of(
        &self,
        user: UserId,
        since: Timestamp,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<DeletedWorkspace>, StoreError>;

    /// Returns the workspaces that a person has access to at `now`, oldest first.
    async fn workspaces_of(&self, user: UserId, now: Timestamp) -> Result<Vec<WorkspaceSummary>, StoreError>;

    /// Returns a page of [`Self::workspaces_of`]; up to one more than the limit.
    async fn workspace_page(
        &self,
        user: UserId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<WorkspaceSummary>, StoreError>;
}

/// Writes within a transaction.
#[async_trait]
pub trait WorkspaceTx: UnitOfWork {
    /// Adds a workspace; [`StoreError::Duplicate`] when the slug is taken.
    async fn insert_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError>;

    /// Records who created a workspace. Returns how many the person has created, this one and those that can still be restored
    /// included; what they create at the same time waits.
    async fn record_creator(&mut self, workspace: WorkspaceId, creator: UserId) -> Result<u64, StoreError>;

    /// Returns a workspace that is not deleted, locked until the transaction ends.
    async fn workspace_for_update(&mut self, workspace: WorkspaceId)
    -> Result<Option<Workspace>, StoreError>;

    /// Replaces the name, language, time zone, currency and cost of an hour of a workspace.
    async fn update_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError>;

    /// Adds a member without an end of access; [`StoreError::Duplicate`] when the person has a membership, even an ended
    /// one.
    async fn insert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Sets the plan of a workspace and invalidates cached decisions about it; false when there is no such workspace.
    async fn set_plan(&mut self, workspace: WorkspaceId, plan: Plan) -> Result<bool, StoreError>;

    /// Gives a person a role without an end of access. A new member joins at `joined_at`; an existing one keeps their
    /// joining time.
    async fn upsert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError>;
}
