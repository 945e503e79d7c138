//! Workspaces, their members, and the plans that limit them. No I/O happens here.

pub mod error;
pub mod plan;
pub mod ports;
pub mod workspaces;

pub use error::WorkspaceError;
pub use plan::Plan;
pub use ports::{WorkspaceRead, WorkspaceTx};
pub use workspaces::{Workspace, WorkspaceSummary};
