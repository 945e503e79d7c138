//! Shares of workspaces that were looked up.

use kernel::{ShareId, id::WorkspaceId};
use moka::sync::Cache;

use crate::{Problem, ports::Store};

/// Workspaces whose share is kept.
const CAPACITY: u64 = 50_000;

/// A cache of shares. The creator of a workspace never changes, so they stay valid.
pub(crate) struct WorkspaceShares(Cache<WorkspaceId, ShareId>);

impl Default for WorkspaceShares {
    fn default() -> Self {
        Self(Cache::new(CAPACITY))
    }
}

impl WorkspaceShares {
    /// Returns the share of the person who created a workspace.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub(crate) async fn get(&self, store: &dyn Store, workspace: WorkspaceId) -> Result<ShareId, Problem> {
        if let Some(share) = self.0.get(&workspace) {
            return Ok(share);
        }
        let share = ShareId::of(store.creator(workspace).await?, workspace);
        self.0.insert(workspace, share);
        Ok(share)
    }
}
