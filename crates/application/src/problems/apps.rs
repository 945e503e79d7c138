//! Problems of apps and their versions.

use apps::AppError;

use crate::problem::Problem;

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        match error {
            AppError::InvalidField { path, what } => Self::invalid_field(&path, what),
            AppError::AppNotFound => Self::not_found("app"),
            AppError::VersionConflict => {
                Self::conflict("stale_version", "Another version was created at the same time.")
                    .hint("Fetch the app again and retry if your change still applies.")
            }
            AppError::MemberNotFound => {
                Self::invalid_field("people", "names someone who is not a member of the workspace")
            }
            AppError::NothingToChange => Self::conflict(
                "nothing_to_change",
                "No change to the manifest would have allowed this request.",
            )
            .hint("See why the run failed: GET /v1/runs/{id}/explain."),
            AppError::TooManyChanges => Self::conflict("too_many_changes", "You have too many open plans.")
                .hint("Wait until one expires; a plan expires after one hour."),
            AppError::Store(error) => error.into(),
        }
    }
}
