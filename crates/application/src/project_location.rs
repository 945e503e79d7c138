//! Locations of the rows of backend projects.

use backend_data::ProjectRef;
use kernel::{
    ShareId,
    id::{ProjectId, WorkspaceId},
};
use moka::sync::Cache;
use projects::Project;

use crate::{Application, Problem, rows_problem};

/// Workspaces whose share is kept.
const CAPACITY: u64 = 50_000;

/// Shares of workspaces that were looked up. The creator of a workspace never changes, so they stay valid.
pub(crate) struct WorkspaceShares(Cache<WorkspaceId, ShareId>);

impl Default for WorkspaceShares {
    fn default() -> Self {
        Self(Cache::new(CAPACITY))
    }
}

impl Application {
    /// Returns the location of a project's rows, with the share of the person who created its workspace.
    ///
    /// # Errors
    /// [`Problem`] if the row engine does not accept the id, or the store fails.
    pub async fn project_ref(&self, project: &Project) -> Result<ProjectRef, Problem> {
        let share = self.share_of(project.workspace).await?;
        let share = backend_data::ShareId(share.uuid().as_u128());
        Ok(unshared(project.id, project.shard)?.with_share(share))
    }

    pub(crate) async fn share_of(&self, workspace: WorkspaceId) -> Result<ShareId, Problem> {
        let shares = &self.workspace_shares().0;
        if let Some(share) = shares.get(&workspace) {
            return Ok(share);
        }
        let share = ShareId::of(self.store().creator(workspace).await?, workspace);
        shares.insert(workspace, share);
        Ok(share)
    }
}

/// Returns the location of the rows of a project that no request can name yet.
///
/// # Errors
/// [`Problem`] if the row engine does not accept the id.
pub(crate) fn unshared(project: ProjectId, shard: u16) -> Result<ProjectRef, Problem> {
    let id = project.to_string().parse().map_err(rows_problem)?;
    Ok(ProjectRef::new(id, shard))
}
