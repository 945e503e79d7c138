//! Refusals of proofs.

use super::{app::AppRightName, role::Role};

/// Refusal of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthorityError {
    /// The caller is not a person.
    #[error("the caller is not a person")]
    NotAPerson,
    /// The caller is not a member of the workspace, or there is no such workspace.
    #[error("the caller is not a member of the workspace")]
    NotAMember,
    /// The caller has a lower role.
    #[error("the role {0} or a higher one is required")]
    RoleRequired(Role),
    /// The caller may not view the app, or there is no such app.
    #[error("the caller may not view the app")]
    AppNotVisible,
    /// The caller may view the app, and does not have this right on it.
    #[error("the right {0} on the app is required")]
    AppRightRequired(AppRightName),
}
