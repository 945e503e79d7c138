//! Ports to a store that the use cases need.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{ProjectId, ProjectKeyId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};

use crate::{
    access::ProjectFact,
    keys::ProjectKey,
    projects::{Project, ProjectSummary, Settings, deletion::DeletedProject},
    traffic::{RequestCount, RequestRecord, StoredRequest},
};

/// Reads that need no transaction.
#[async_trait]
pub trait ProjectsRead: Send + Sync {
    /// Returns a project's workspace and creator, for authorisation. `None` for a deleted project, as in every read
    /// that does not say otherwise.
    async fn project_fact(&self, project: ProjectId) -> Result<Option<ProjectFact>, StoreError>;

    /// Returns a project of a workspace.
    async fn project(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<ProjectSummary>, StoreError>;

    /// Returns a project by its id alone, for callers who have presented one of its keys; `None` also when its workspace
    /// is deleted.
    async fn project_by_key(&self, project: ProjectId) -> Result<Option<Project>, StoreError>;

    /// Lists a workspace's projects, newest first.
    async fn projects(&self, workspace: WorkspaceId) -> Result<Vec<ProjectSummary>, StoreError>;

    /// Returns a deleted project's workspace and creator, for authorisation; `None` once its purge has begun.
    async fn deleted_project_fact(&self, project: ProjectId) -> Result<Option<ProjectFact>, StoreError>;

    /// Lists a workspace's projects that were deleted after `since` and whose purge has not begun, newest first.
    async fn deleted_projects(
        &self,
        workspace: WorkspaceId,
        since: Timestamp,
    ) -> Result<Vec<DeletedProject>, StoreError>;

    /// Lists a project's keys, newest first, with revoked ones.
    async fn project_keys(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Vec<ProjectKey>, StoreError>;

    /// Lists a project's keys, newest first, with revoked ones; up to one more than the limit.
    async fn project_key_page(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Vec<ProjectKey>, StoreError>;

    /// Returns the key stored under one of these digests, even a revoked one.
    async fn project_key_by_digest(&self, digests: &[Digest]) -> Result<Option<ProjectKey>, StoreError>;
}

/// Writes, and the reads that they depend on.
#[async_trait]
pub trait ProjectsTx: UnitOfWork {
    /// Counts the projects of a workspace, deleted ones until they are purged: their rows take space as long.
    async fn count_projects(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError>;

    /// Adds a project; [`StoreError::Duplicate`] when the slug is taken.
    async fn insert_project(&mut self, project: &Project) -> Result<(), StoreError>;

    /// Returns a project of a workspace, locked until the transaction ends.
    async fn project_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<Project>, StoreError>;

    /// Marks a project as deleted.
    async fn mark_project_deleted(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        at: Timestamp,
        by: UserId,
    ) -> Result<(), StoreError>;

    /// Returns a deleted project of a workspace with the time of its deletion, locked until the transaction ends; `None`
    /// once its purge has begun.
    async fn deleted_project_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<(Project, Timestamp)>, StoreError>;

    /// Undoes the deletion of a project.
    async fn unmark_project_deleted(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<(), StoreError>;

    /// Replaces the settings of a project.
    async fn set_project_settings(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        settings: &Settings,
    ) -> Result<(), StoreError>;

    /// Counts the keys of a project that are not revoked.
    async fn count_active_keys(&mut self, project: ProjectId) -> Result<u64, StoreError>;

    /// Adds a key under the digest of its value.
    async fn insert_project_key(&mut self, key: &ProjectKey, digest: &Digest) -> Result<(), StoreError>;

    /// Returns a key of a project, locked until the transaction ends; none when the project or the key is not found.
    async fn project_key_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        key: ProjectKeyId,
    ) -> Result<Option<ProjectKey>, StoreError>;

    /// Revokes a key unless it is revoked already, and returns it; none when the project or the key is not found.
    async fn revoke_project_key(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        key: ProjectKeyId,
        at: Timestamp,
    ) -> Result<Option<ProjectKey>, StoreError>;
}

/// A log of requests to data APIs, written in batches after the responses.
#[async_trait]
pub trait TrafficLog: Send + Sync {
    /// Stores requests, and adds to the counts of their minutes.
    async fn record_requests(
        &self,
        requests: &[RequestRecord],
        counts: &[RequestCount],
    ) -> Result<(), StoreError>;

    /// Lists a project's latest requests, newest first; up to one more than the limit. The position of a request is its
    /// number.
    async fn project_requests(
        &self,
        project: ProjectId,
        page: PageRequest<u64>,
    ) -> Result<Vec<StoredRequest>, StoreError>;

    /// Lists a project's counts of the minutes from `start` on, in milliseconds since 1970.
    async fn project_request_counts(
        &self,
        project: ProjectId,
        start: i64,
    ) -> Result<Vec<RequestCount>, StoreError>;
}

/// Records when keys were last used, in batches after the responses.
#[async_trait]
pub trait KeyUsageWriter: Send + Sync {
    /// Stores times of use; an earlier time never overwrites a later one.
    async fn touch_keys(&self, uses: &[(ProjectKeyId, Timestamp)]) -> Result<(), StoreError>;
}
