//! The kind of an invocation, and the key of the slot that it takes.

use kernel::{ShareId, id::WorkspaceId};

/// The kind of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WorkloadKind {
    /// A run of an automation.
    Run,
    /// A response over HTTP.
    HttpRequest,
    /// A check of a bundle.
    Check,
}

impl WorkloadKind {
    pub(super) const ALL: [Self; 3] = [Self::Run, Self::HttpRequest, Self::Check];
}

/// A workspace, a kind of invocation, and the share whose slot it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WorkloadKey {
    pub(crate) workspace: WorkspaceId,
    pub(crate) kind: WorkloadKind,
    pub(crate) share: ShareId,
}
