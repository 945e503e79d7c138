//! The store as the executor uses it.

use apps::{AppVersion, AppsRead, versions::VersionContent};
use async_trait::async_trait;
use connections::{Gate, GateReader};
use kernel::{
    StoreError,
    events::RefusedRequest,
    id::{AppId, ProjectId, UserId, VersionId, WorkspaceId},
};
use observability::{LogSink, NewLogLine};
use projects::{ProjectsRead, projects::ProjectSummary};
use workspace::{Workspace, WorkspaceRead};

/// Reads that running app code needs, and the sink of the log lines of visits. Any store that has the domains' ports has
/// this one.
#[async_trait]
pub trait ExecutorStore: Send + Sync {
    /// See [`AppsRead::version`].
    async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError>;

    /// See [`ProjectsRead::project`].
    async fn project(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<ProjectSummary>, StoreError>;

    /// See [`WorkspaceRead::workspace`].
    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<Workspace>, StoreError>;

    /// See [`WorkspaceRead::creator`].
    async fn workspace_creator(&self, workspace: WorkspaceId) -> Result<Option<UserId>, StoreError>;

    /// See [`GateReader::gates`].
    async fn gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError>;

    /// See [`LogSink::append_log`].
    async fn append_log(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        lines: Vec<NewLogLine>,
        refused: Vec<RefusedRequest>,
    ) -> Result<(), StoreError>;
}

#[async_trait]
impl<T: AppsRead + GateReader + LogSink + ProjectsRead + WorkspaceRead> ExecutorStore for T {
    async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError> {
        AppsRead::version(self, workspace, app, version).await
    }

    async fn project(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<ProjectSummary>, StoreError> {
        ProjectsRead::project(self, workspace, project).await
    }

    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
        WorkspaceRead::workspace(self, workspace).await
    }

    async fn workspace_creator(&self, workspace: WorkspaceId) -> Result<Option<UserId>, StoreError> {
        WorkspaceRead::creator(self, workspace).await
    }

    async fn gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError> {
        GateReader::gates(self, workspace).await
    }

    async fn append_log(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        lines: Vec<NewLogLine>,
        refused: Vec<RefusedRequest>,
    ) -> Result<(), StoreError> {
        LogSink::append_log(self, workspace, app, lines, refused).await
    }
}
