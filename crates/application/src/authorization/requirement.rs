//! The right that an operation needs: one value for the check and for the API description.

use kernel::authority::{AppRightName, Role};
use projects::KeyScope;

/// Right that the caller of an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// None, beyond being one of the operation's callers.
    None,
    /// At least this role in the workspace.
    Role(Role),
    /// This right on the app.
    App(AppRightName),
    /// Viewing the backend project.
    ViewProject,
    /// Changing tables and rows of the backend project.
    EditProject,
    /// Managing keys, policies and settings of the backend project.
    OwnProject,
    /// Being the person who planned the change.
    PlanOwner,
    /// Being the person who made the import, or an admin.
    ImportMaker,
    /// A project key with this scope.
    Key(KeyScope),
}

impl Requirement {
    /// Returns the specification's name of the right; `-` for none.
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
            Self::ImportMaker => "maker",
            Self::Key(scope) => scope.as_str(),
        }
    }
}
