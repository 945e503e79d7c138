//! Workspaces, their members, and the plans that limit them. No I/O happens here.
//!
//! * [`workspaces`]: creating workspaces, and operators' changes to them
//! * [`members`]: roles, leaving, ownership
//! * [`invites`]: inviting a person by their e-mail address
//! * [`join_domains`]: admitting everyone with an address of a domain
//! * [`audit_log`]: reading the audit log
//! * [`plan`]: the limits of each plan

pub mod audit_log;
pub mod error;
mod invalid_input;
pub mod invites;
pub mod join_domains;
pub mod members;
pub mod plan;
pub mod ports;
#[cfg(test)]
mod testing;
pub mod workspaces;

pub use error::WorkspaceError;
pub use invalid_input::InvalidInput;
pub use plan::Plan;
pub use ports::{WorkspaceRead, WorkspaceTx};
pub use workspaces::{Workspace, WorkspaceSummary};
