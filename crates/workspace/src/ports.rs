//! What this domain needs from a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    authority::{MembershipFact, Role},
    id::{UserId, WorkspaceId},
};

use crate::{
    Plan,
    workspaces::{Workspace, WorkspaceSummary},
};

/// Reads that need no transaction.
#[async_trait]
pub trait WorkspaceRead: Send + Sync {
    /// One person's place in one workspace.
    async fn membership(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError>;

    /// A workspace by id.
    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<Workspace>, StoreError>;

    /// The workspaces a person has access to at `now`, oldest first.
    async fn workspaces_of(&self, user: UserId, now: Timestamp) -> Result<Vec<WorkspaceSummary>, StoreError>;
}

/// Writes.
#[async_trait]
pub trait WorkspaceTx: UnitOfWork {
    /// Adds a workspace; [`StoreError::Duplicate`] when the slug is taken.
    async fn insert_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError>;

    /// Adds a member.
    async fn insert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Puts a workspace on another plan, and makes cached decisions about it stale; whether there is one.
    async fn set_plan(&mut self, workspace: WorkspaceId, plan: Plan) -> Result<bool, StoreError>;

    /// Gives a person a role, whether they are a member already or not.
    async fn upsert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError>;
}
