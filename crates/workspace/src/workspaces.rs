//! Workspaces (specification part A, "Workspaces").

mod bounds;
mod create;
pub mod deletion;
mod make_owner;
mod set_plan;
mod types;
mod update;

pub use create::{CreateWorkspace, MAX_CREATED, create_workspace};
pub use make_owner::make_owner;
pub use set_plan::set_plan;
pub use types::{Cell, Currency, Intent, Profile, TeamSize, Workspace, WorkspaceSummary};
pub use update::{MAX_HOURLY_COST_MINOR, WorkspaceChange, update_workspace};
