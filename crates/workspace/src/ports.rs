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
    workspaces::{Workspace, WorkspaceSummary},
};

/// Reads that need no transaction.
#[async_trait]
pub trait WorkspaceRead: Send + Sync {
    /// Returns the membership of one person in one workspace, also when their access has ended.
    async fn membership(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError>;

    /// Returns a workspace.
    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<Workspace>, StoreError>;

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
