//! What can go wrong with workspaces.

use kernel::{Problem, StoreError};

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A field is out of its bounds.
    #[error("{field} {what}")]
    InvalidField {
        /// The field's name on the wire.
        field: &'static str,
        /// What it must be.
        what: &'static str,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<WorkspaceError> for Problem {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::InvalidField { field, what } => Self::invalid_field(field, what),
            WorkspaceError::Store(error) => error.into(),
        }
    }
}
