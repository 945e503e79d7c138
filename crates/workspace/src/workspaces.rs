//! Workspaces (specification part A, "Workspaces").

mod create;
mod operator;
mod types;

pub use create::{CreateWorkspace, create_workspace};
pub use operator::{make_owner, set_plan};
pub use types::{Cell, Currency, Intent, Profile, TeamSize, Workspace, WorkspaceSummary};
