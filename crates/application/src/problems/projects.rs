//! Problems of backend projects.

use projects::{ProjectError, access::ProjectAccessError};

use crate::problem::Problem;

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::InvalidField { field, what } => Self::invalid_field(field, what),
            ProjectError::TooManyProjects => Self::conflict(
                "too_many_projects",
                "The workspace has reached its limit of backend projects.",
            ),
            ProjectError::TooManyKeys => {
                Self::conflict("too_many_keys", "The project has reached its limit of active keys.")
                    .hint("Revoke a key that is no longer used.")
            }
            ProjectError::ProjectNotFound => Self::not_found("project"),
            ProjectError::KeyNotFound => Self::not_found("key"),
            ProjectError::Store(error) => error.into(),
        }
    }
}

impl From<ProjectAccessError> for Problem {
    fn from(error: ProjectAccessError) -> Self {
        let message = match error {
            ProjectAccessError::NotVisible => return Self::not_found("project"),
            ProjectAccessError::EditRequired => {
                "This requires the builder role or higher, unless you created the project."
            }
            ProjectAccessError::OwnRequired => {
                "Only an admin, an owner or the project's creator can do this."
            }
        };
        Self::forbidden("forbidden", message)
    }
}
