//! Workspaces (specification part A, "Workspaces").

mod create;
mod types;

pub use create::{CreateWorkspace, create_workspace};
pub use types::{Cell, Currency, Intent, Locale, Profile, TeamSize, Workspace, WorkspaceSummary};
