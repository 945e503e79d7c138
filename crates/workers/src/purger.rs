//! Purges what was deleted longer ago than it can be restored: the rows of backend projects, and everything of workspaces.

use std::{collections::HashSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use backend_data::{Engine, ProjectRef};
use kernel::{
    Clock, StoreError, Timestamp,
    deletion::RESTORE_PERIOD,
    id::{ProjectId, WorkspaceId},
};
use projects::projects::deletion::{ProjectPurge, PurgedProject};
use tokio_util::sync::CancellationToken;
use workspace::workspaces::deletion::WorkspacePurge;

use crate::run_at_interval;

/// Time between searches for what is due.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);
/// Projects or workspaces that are looked up at once.
const BATCH: u32 = 50;

/// The rows of backend projects, as a purge deletes them.
#[async_trait]
pub trait RowPurge: Send + Sync {
    /// Deletes a project with all of its rows. It is not an error if the project does not exist.
    async fn drop_project(&self, project: &ProjectRef) -> backend_data::Result<()>;
}

#[async_trait]
impl RowPurge for Engine {
    async fn drop_project(&self, project: &ProjectRef) -> backend_data::Result<()> {
        Self::drop_project(self, project).await
    }
}

/// Purges deleted workspaces and backend projects once they can no longer be restored.
///
/// Every node may run one, and any may be stopped at any time: each step can be repeated, and whoever comes second finds
/// nothing left. The record of a project or workspace goes last, so that it is found again until all else is gone.
pub struct Purger<S> {
    store: S,
    rows: Arc<dyn RowPurge>,
    clock: Arc<dyn Clock>,
}

impl<S: ProjectPurge + WorkspacePurge> Purger<S> {
    /// Creates a worker over the control plane's store and the rows of backend projects.
    #[must_use]
    pub fn new(store: S, rows: Arc<dyn RowPurge>, clock: Arc<dyn Clock>) -> Self {
        Self { store, rows, clock }
    }

    /// Purges what is due at once and then every minute, until `shutdown`. A purge in progress stops between two of its
    /// transactions, and goes on at the next start.
    pub async fn run(self, shutdown: CancellationToken) {
        run_at_interval(PURGE_INTERVAL, shutdown.clone(), || async {
            if let Some(Err(error)) = shutdown.run_until_cancelled(self.purge_due()).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "cannot purge what was deleted; it is tried again in a minute");
            }
        })
        .await;
    }

    async fn purge_due(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let before = now - RESTORE_PERIOD;
        let workspaces = self.store.begin_workspace_purges(before, now, BATCH).await?;
        let unfinished = self.purge_projects(before, now).await?;
        for workspace in workspaces.into_iter().filter(|workspace| !unfinished.contains(workspace)) {
            if self.store.purge_workspace(workspace).await? {
                tracing::info!(%workspace, "purged a deleted workspace");
            }
        }
        Ok(())
    }

    /// Purges the projects that are due, and returns the workspaces of those that are left because their rows could not be
    /// deleted.
    async fn purge_projects(
        &self,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<HashSet<WorkspaceId>, StoreError> {
        let (mut unfinished, mut after) = (HashSet::new(), None);
        loop {
            let due = self.store.begin_project_purges(before, now, after, BATCH).await?;
            let Some(last) = due.last() else { return Ok(unfinished) };
            after = Some(last.project);
            for project in due {
                if !self.purge_project(project).await? {
                    unfinished.insert(project.workspace);
                }
            }
        }
    }

    /// Purges a project; returns false if its rows could not be deleted.
    async fn purge_project(&self, purged: PurgedProject) -> Result<bool, StoreError> {
        let PurgedProject { project, workspace, shard } = purged;
        if let Err(error) = self.drop_rows(project, shard).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, %project, %workspace, "cannot delete the rows of a deleted backend project");
            return Ok(false);
        }
        if self.store.purge_project(project).await? {
            tracing::info!(%project, %workspace, "purged a deleted backend project");
        }
        Ok(true)
    }

    async fn drop_rows(&self, project: ProjectId, shard: u16) -> backend_data::Result<()> {
        let id = project.to_string().parse()?;
        self.rows.drop_project(&ProjectRef::new(id, shard)).await
    }
}

#[cfg(test)]
mod tests;
