//! Deleting a project and, within a week, restoring it.
//!
//! A deleted project is not found by anybody, its keys are not known, and apps that bind it reach nothing. Its rows stay
//! until they are purged.

mod delete;
mod purge;
mod undelete;

use kernel::Timestamp;

use super::ProjectSummary;

pub use delete::delete_project;
pub use purge::{ProjectPurge, PurgedProject};
pub use undelete::undelete_project;

/// A deleted project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedProject {
    /// Project as it was when it was deleted.
    pub summary: ProjectSummary,
    /// Time of the deletion.
    pub deleted_at: Timestamp,
}
