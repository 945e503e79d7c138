//! The purge of deleted projects, as the worker that does it sees it.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{ProjectId, WorkspaceId},
};

/// A project that is being purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurgedProject {
    /// Id of the project.
    pub project: ProjectId,
    /// Workspace that it belonged to.
    pub workspace: WorkspaceId,
    /// Number of the shard that holds its rows.
    pub shard: u16,
}

/// Deletes what deleted projects leave in the control plane.
#[async_trait]
pub trait ProjectPurge: Send + Sync {
    /// Marks projects that were deleted at `deleted_before` or earlier, or whose workspace is being purged, so that nobody
    /// can restore them, and returns the marked ones after `after` in the order of their ids, those whose purge was
    /// interrupted too; at most `limit`.
    async fn begin_project_purges(
        &self,
        deleted_before: Timestamp,
        now: Timestamp,
        after: Option<ProjectId>,
        limit: u32,
    ) -> Result<Vec<PurgedProject>, StoreError>;

    /// Deletes the records of a marked project, a few rows in each transaction, and the project last. Its rows in the row
    /// store must be deleted before. Returns true if this call deleted the project, and false if another node did.
    async fn purge_project(&self, project: ProjectId) -> Result<bool, StoreError>;
}
