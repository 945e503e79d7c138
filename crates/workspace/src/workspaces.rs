//! Workspaces (specification part A, "Workspaces").

mod create;
mod operate;
mod types;

pub use create::{CreateWorkspace, create_workspace};
pub use operate::{make_owner, set_plan};
pub use types::{Cell, Currency, Intent, Profile, TeamSize, Workspace, WorkspaceSummary};
