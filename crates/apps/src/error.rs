//! Errors of this domain.

use kernel::StoreError;

/// A refusal or failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A field is out of bounds.
    #[error("`{path}` {what}")]
    InvalidField {
        /// Path of the field on the wire, such as `manifest.permissions.egress[0].host`.
        path: String,
        /// Rest of a sentence that begins with the field: the bounds, or what is wrong.
        what: String,
    },
    /// The app does not exist, or was deleted.
    #[error("there is no such app")]
    AppNotFound,
    /// Someone else created a version at the same time.
    #[error("another version was created at the same time")]
    VersionConflict,
    /// A person to share with is not a member of the workspace.
    #[error("a person to share with is not a member of the workspace")]
    MemberNotFound,
    /// The manifest allows the refused request already, or cannot name its host.
    #[error("there is nothing to change")]
    NothingToChange,
    /// The person has too many unexpired plans.
    #[error("too many changes are planned")]
    TooManyChanges,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AppError {
    pub(crate) fn invalid(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self::InvalidField { path: path.into(), what: what.into() }
    }
}
