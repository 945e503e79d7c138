//! Problems of what the domains share: the store, authority, pages and scopes.

use kernel::{
    StoreError,
    authority::{AuthorityError, LockError, Role},
    caller::InvalidScopes,
    page::{InvalidPage, MAX_LIMIT},
};

use crate::problem::Problem;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Contended(_) | StoreError::Unavailable(_) => {
                Self::unavailable("unavailable", "The database is temporarily unavailable.")
                    .hint("Try again in a moment.")
                    .caused_by(error)
            }
            StoreError::Duplicate => Self::conflict("conflict", "Someone created this at the same time.")
                .hint("Read the current state, then try again if you still need to.")
                .caused_by(error),
            StoreError::StorageFull { max_bytes } => Self::conflict(
                "storage_full",
                format!(
                    "The code of this workspace would take more than the {} MiB that its plan allows.",
                    max_bytes >> 20
                ),
            )
            .hint("Delete apps that nobody needs, or ask the operator of the server for a larger plan."),
            StoreError::Inconsistent { .. }
            | StoreError::NotAudited
            | StoreError::NotReportable(_)
            | StoreError::Failed(_) => Self::internal(error),
        }
    }
}

impl From<AuthorityError> for Problem {
    fn from(error: AuthorityError) -> Self {
        match error {
            AuthorityError::NotAPerson => Self::unauthorized(),
            AuthorityError::NotAMember => Self::not_found("workspace"),
            AuthorityError::RoleRequired(Role::Owner) => {
                Self::forbidden("forbidden", "Only owners of the workspace can do this.")
            }
            AuthorityError::RoleRequired(Role::Admin) => {
                Self::forbidden("admin_only", "Only admins and owners of the workspace can do this.")
            }
            AuthorityError::RoleRequired(role @ (Role::Builder | Role::Member | Role::Viewer)) => {
                Self::forbidden("forbidden", format!("This requires the role {role} or higher."))
                    .hint("Ask an admin of the workspace for that role.")
            }
            AuthorityError::AppNotVisible => Self::not_found("app"),
            AuthorityError::AppRightRequired(right) => {
                Self::forbidden("forbidden", format!("This requires the right `{right}` on the app."))
                    .hint("Ask the creator of the app or an admin to share it with you.")
            }
        }
    }
}

impl From<LockError> for Problem {
    fn from(error: LockError) -> Self {
        match error {
            LockError::CredentialEnded => Self::forbidden(
                "credential_ended",
                "The session or token ended while the request was running.",
            )
            .hint("Nothing was changed. Sign in again, or use another token."),
            LockError::Authority(error) => error.into(),
            LockError::Store(error) => error.into(),
        }
    }
}

impl From<InvalidPage> for Problem {
    fn from(error: InvalidPage) -> Self {
        match error {
            InvalidPage::Limit => Self::invalid_field("limit", format_args!("must be from 1 to {MAX_LIMIT}")),
            InvalidPage::Cursor => Self::invalid_field("cursor", "is not a cursor of this list")
                .hint("Start from the first page, without `cursor`."),
        }
    }
}

impl From<InvalidScopes> for Problem {
    fn from(error: InvalidScopes) -> Self {
        let rule = match error {
            InvalidScopes::Repeated => "has a scope twice",
            InvalidScopes::Empty => "must have at least one of read, write, admin",
            InvalidScopes::Unknown => "may only have read, write, admin",
        };
        Self::invalid_field("scopes", rule)
    }
}
