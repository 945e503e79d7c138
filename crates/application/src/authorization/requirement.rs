//! The right that an operation needs, as it is enforced and described.

use kernel::authority::{AppRightName, Role};
use projects::KeyScope;

/// The right that an operation needs of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// None beyond being one of the operation's callers.
    None,
    /// At least this role in the workspace.
    Role(Role),
    /// This right on the app.
    App(AppRightName),
    /// Seeing the backend project.
    ViewProject,
    /// Changing tables and rows of the backend project.
    EditProject,
    /// Managing keys, policies and settings of the backend project.
    OwnProject,
    /// Having planned the change.
    PlanOwner,
    /// A project key with this scope.
    Key(KeyScope),
}

impl Requirement {
    /// The specification's word; `-` for none.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "-",
            Self::Role(role) => role.as_str(),
            Self::App(right) => right.as_str(),
            Self::ViewProject => AppRightName::CanView.as_str(),
            Self::EditProject => AppRightName::CanEdit.as_str(),
            Self::OwnProject => "project_owner",
            Self::PlanOwner => "plan_owner",
            Self::Key(scope) => scope.as_str(),
        }
    }
}
