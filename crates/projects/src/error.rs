//! What can go wrong with projects and keys.

use kernel::{Problem, StoreError};

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A field is out of its bounds.
    #[error("`{field}` {what}")]
    InvalidField {
        /// The field's name on the wire.
        field: &'static str,
        /// What it must be.
        what: &'static str,
    },
    /// The workspace has as many projects as it may.
    #[error("the workspace has too many projects")]
    TooManyProjects,
    /// The project has as many keys as it may.
    #[error("the project has too many keys")]
    TooManyKeys,
    /// There is no such project any more.
    #[error("there is no such project")]
    ProjectNotFound,
    /// There is no such key.
    #[error("there is no such key")]
    KeyNotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::InvalidField { field, what } => Self::invalid_field(field, what),
            ProjectError::TooManyProjects => {
                Self::conflict("too_many_projects", "The workspace has as many backend projects as it may.")
            }
            ProjectError::TooManyKeys => {
                Self::conflict("too_many_keys", "The project has as many live keys as it may.")
                    .hint("Revoke one that is not used.")
            }
            ProjectError::ProjectNotFound => Self::not_found("project"),
            ProjectError::KeyNotFound => Self::not_found("key"),
            ProjectError::Store(error) => error.into(),
        }
    }
}
