//! Errors of this domain.

use kernel::StoreError;

/// A refusal or failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A field is out of bounds.
    #[error("`{field}` {what}")]
    InvalidField {
        /// Name of the field on the wire.
        field: &'static str,
        /// Rest of a sentence that begins with the field: the bounds, or what is wrong.
        what: &'static str,
    },
    /// The workspace has 2,000 projects.
    #[error("the workspace has too many projects")]
    TooManyProjects,
    /// The project has 100 active keys.
    #[error("the project has too many keys")]
    TooManyKeys,
    /// The project does not exist, or was deleted.
    #[error("there is no such project")]
    ProjectNotFound,
    /// The project has no such key.
    #[error("the project has no such key")]
    KeyNotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
