//! Errors of the use cases on gates.

use kernel::StoreError;

use super::MAX_GATES;
use crate::host::InvalidHost;

/// A refusal or failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A value of the input is refused.
    #[error(transparent)]
    InvalidInput(#[from] InvalidGate),
    /// The workspace has no such gate.
    #[error("the workspace has no such gate")]
    NotFound,
    /// The workspace has a gate to the host.
    #[error("the workspace has a gate to this host")]
    AlreadyExists,
    /// The workspace has as many gates as it may.
    #[error("the workspace has {MAX_GATES} gates")]
    TooManyGates,
    /// The gate belongs to a connection, and is deleted with it.
    #[error("the gate belongs to a connection")]
    BelongsToConnection,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A refused value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidGate {
    /// The host is not the name of a host of the internet.
    #[error(transparent)]
    Host(#[from] InvalidHost),
    /// The list of methods is empty or too long.
    #[error("a gate allows 1 to 7 methods")]
    Methods,
    /// The name is empty, too long or not printable.
    #[error("a name has 1 to 60 printable characters")]
    Name,
}
