//! Deleting a workspace and, within a week, restoring it.
//!
//! Nobody is a member of a deleted workspace, so that whatever a person, token or agent asks of it is not found. Its
//! data stays until it is purged. See `docs/decisions/0143-delete-by-marking-and-purge-later.md`.

mod delete;
mod purge;
mod restore;

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{UserId, WorkspaceId},
};

use super::WorkspaceSummary;
use crate::members::MembersTx;

pub use delete::delete_workspace;
pub use purge::WorkspacePurge;
pub use restore::restore_workspace;

/// A deleted workspace as one of its owners sees it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedWorkspace {
    /// The workspace as it was when it was deleted.
    pub summary: WorkspaceSummary,
    /// Time of the deletion.
    pub deleted_at: Timestamp,
}

/// Writes of deletions, and the reads on which they depend.
#[async_trait]
pub trait DeletionTx: MembersTx {
    /// Deletes a workspace whose members are locked: nobody is a member any more on any node, webhook calls and project
    /// keys are not known, no schedule fires, no run is claimed, and nodes stop the runs that they execute.
    async fn mark_workspace_deleted(
        &mut self,
        workspace: WorkspaceId,
        at: Timestamp,
        by: UserId,
    ) -> Result<(), StoreError>;

    /// Locks a deleted workspace like [`MembersTx::lock_members`], and returns the time of its deletion; `None` when it
    /// is not deleted, or its data is being purged.
    async fn lock_deleted_workspace(
        &mut self,
        workspace: WorkspaceId,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Undoes the deletion of a workspace that is locked. Its runs that were queued or interrupted go on.
    async fn unmark_workspace_deleted(&mut self, workspace: WorkspaceId) -> Result<(), StoreError>;
}
