//! What this domain needs from a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{ProjectId, ProjectKeyId, WorkspaceId},
    token::Digest,
};

use crate::{
    access::ProjectFact,
    keys::ProjectKey,
    projects::{Project, ProjectSummary, Settings},
    traffic::{RequestCount, RequestRecord, StoredRequest},
};

/// Reads that need no transaction.
#[async_trait]
pub trait ProjectsRead: Send + Sync {
    /// In which workspace a project is and who made it; for authorisation.
    async fn project_fact(&self, project: ProjectId) -> Result<Option<ProjectFact>, StoreError>;

    /// A project.
    async fn project(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<ProjectSummary>, StoreError>;

    /// A project by id alone, for callers who proved themselves by a key of it.
    async fn project_by_key(&self, project: ProjectId) -> Result<Option<Project>, StoreError>;

    /// A workspace's projects, newest first.
    async fn projects(&self, workspace: WorkspaceId) -> Result<Vec<ProjectSummary>, StoreError>;

    /// A project's keys, newest first, revoked ones included.
    async fn project_keys(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Vec<ProjectKey>, StoreError>;

    /// The key stored under one of these digests, revoked ones included.
    async fn project_key_by_digest(&self, digests: &[Digest]) -> Result<Option<ProjectKey>, StoreError>;
}

/// Writes, and the reads they decide by.
#[async_trait]
pub trait ProjectsTx: UnitOfWork {
    /// How many projects a workspace has.
    async fn count_projects(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError>;

    /// Adds a project.
    async fn insert_project(&mut self, project: &Project) -> Result<(), StoreError>;

    /// A project, locked until the end of the transaction.
    async fn project_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<Project>, StoreError>;

    /// Replaces the settings of a project.
    async fn set_project_settings(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        settings: &Settings,
    ) -> Result<(), StoreError>;

    /// How many keys of a project are not revoked.
    async fn count_active_keys(&mut self, project: ProjectId) -> Result<u64, StoreError>;

    /// Adds a key.
    async fn insert_project_key(&mut self, key: &ProjectKey, digest: &Digest) -> Result<(), StoreError>;

    /// Marks a key revoked unless it is already; the key as it stands now.
    async fn revoke_project_key(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        key: ProjectKeyId,
        at: Timestamp,
    ) -> Result<Option<ProjectKey>, StoreError>;
}

/// Requests to data APIs, many at once and off their way.
#[async_trait]
pub trait TrafficLog: Send + Sync {
    /// Keeps requests, and adds to the counts of their minutes.
    async fn record_requests(
        &self,
        requests: &[RequestRecord],
        counted: &[RequestCount],
    ) -> Result<(), StoreError>;

    /// A project's latest requests, newest first.
    async fn project_requests(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<StoredRequest>, StoreError>;

    /// A project's counts of the minutes from `begin` on, in milliseconds since 1970.
    async fn project_request_counts(
        &self,
        project: ProjectId,
        begin: i64,
    ) -> Result<Vec<RequestCount>, StoreError>;
}

/// Notes when keys were last used, many at once and off the request's way.
#[async_trait]
pub trait KeyUsageWriter: Send + Sync {
    /// Keeps the moments; an earlier one never overwrites a later one.
    async fn touch_keys(&self, uses: &[(ProjectKeyId, Timestamp)]) -> Result<(), StoreError>;
}
