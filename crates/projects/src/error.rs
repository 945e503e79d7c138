//! Errors of this domain.

use kernel::StoreError;

use crate::InvalidInput;

/// A refusal or failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A value of the input is refused.
    #[error(transparent)]
    InvalidInput(#[from] InvalidInput),
    /// The workspace has 2,000 projects.
    #[error("the workspace has too many projects")]
    TooManyProjects,
    /// The project has 100 active keys.
    #[error("the project has too many keys")]
    TooManyKeys,
    /// The project does not exist, or was deleted.
    #[error("there is no such project")]
    ProjectNotFound,
    /// The project to restore is not deleted.
    #[error("the project is not deleted")]
    ProjectNotDeleted,
    /// The project has no such key.
    #[error("the project has no such key")]
    KeyNotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
