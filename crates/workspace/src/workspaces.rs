//! Workspaces (specification part A, "Workspaces").

mod create;
mod make_owner;
mod set_plan;
mod types;

pub use create::{CreateWorkspace, create_workspace};
pub use make_owner::make_owner;
pub use set_plan::set_plan;
pub use types::{Cell, Currency, Intent, Profile, TeamSize, Workspace, WorkspaceSummary};
