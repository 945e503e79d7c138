//! The purge of deleted workspaces, as the worker that does it sees it.

use async_trait::async_trait;
use kernel::{StoreError, Timestamp, id::WorkspaceId};

/// Deletes what deleted workspaces leave in the control plane.
#[async_trait]
pub trait WorkspacePurge: Send + Sync {
    /// Marks workspaces that were deleted at `deleted_before` or earlier, so that nobody can restore them, and returns all
    /// that are marked, those whose purge was interrupted too; at most `limit`.
    async fn begin_workspace_purges(
        &self,
        deleted_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WorkspaceId>, StoreError>;

    /// Deletes everything of a marked workspace, a few rows in each transaction, and the workspace last. Its backend
    /// projects must be purged before. What an interrupted call left is deleted by the next. Returns true if this call
    /// deleted the workspace, and false if another node did.
    async fn purge_workspace(&self, workspace: WorkspaceId) -> Result<bool, StoreError>;
}
