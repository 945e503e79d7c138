//! What can go wrong with apps.

use kernel::{Problem, StoreError};

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A field is out of its bounds; the path leads to it (`manifest.permissions.egress[0].host`).
    #[error("`{path}` {what}")]
    InvalidField {
        /// Where it stands.
        path: String,
        /// What it must be.
        what: String,
    },
    /// The app does not exist, or was deleted.
    #[error("there is no such app")]
    AppNotFound,
    /// Somebody else made a version at the same moment.
    #[error("another version was made at the same moment")]
    VersionConflict,
    /// A person to share with is no member of the workspace.
    #[error("a person to share with is no member")]
    MemberNotFound,
    /// The manifest allows already what was refused, or cannot name it.
    #[error("there is nothing to change")]
    NothingToChange,
    /// The person has planned too much that is still open.
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

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        match error {
            AppError::InvalidField { path, what } => Self::invalid_field(&path, what),
            AppError::AppNotFound => Self::not_found("app"),
            AppError::VersionConflict => {
                Self::conflict("stale_version", "Another version was made at the same moment.")
                    .hint("Read the app again, then decide.")
            }
            AppError::MemberNotFound => {
                Self::invalid_field("people", "names somebody who is no member of the workspace")
            }
            AppError::NothingToChange => Self::conflict(
                "nothing_to_change",
                "No change of the manifest would have let this run through.",
            )
            .hint("Ask what happened: GET /v1/runs/{id}/explain."),
            AppError::TooManyChanges => {
                Self::conflict("too_many_changes", "You have planned too many changes that are still open.")
                    .hint("A plan expires after an hour.")
            }
            AppError::Store(error) => error.into(),
        }
    }
}
