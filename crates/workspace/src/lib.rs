//! Workspaces, the people in them, and the plans that limit them. No I/O happens here.
//!
//! * [`workspaces`]: a workspace and its making
//! * [`members`]: roles, leaving, ownership
//! * [`invites`]: letting somebody in by their address
//! * [`join_domains`]: letting everybody of a domain in
//! * [`audit_log`]: reading the audit log
//! * [`plan`]: what a plan allows

pub mod audit_log;
pub mod error;
pub mod invites;
pub mod join_domains;
pub mod members;
pub mod plan;
pub mod ports;
#[cfg(test)]
mod testing;
pub mod workspaces;

pub use error::WorkspaceError;
pub use plan::Plan;
pub use ports::{WorkspaceRead, WorkspaceTx};
pub use workspaces::{Workspace, WorkspaceSummary};
