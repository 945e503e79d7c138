//! Gates: a workspace's permission to reach one host.
//!
//! An app may reach a host that its manifest declares and that an open gate of its workspace allows.

mod create;
mod delete;
mod error;
mod list;
mod ports;
mod set_status;

use kernel::{
    Context, Timestamp,
    id::{AppId, ConnectionId, GateId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

pub use create::{CreateGate, create_gate};
pub use delete::delete_gate;
pub use error::{GateError, InvalidGate};
pub use list::{list_gates, view_gate};
pub use ports::{ConnectionsTx, GateReader, GateTx};
pub use set_status::set_gate_status;

use crate::host::GateHost;

/// Maximum number of gates of a workspace.
pub const MAX_GATES: u32 = 500;

/// The status of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateStatus {
    /// Requests with one of the gate's methods are allowed.
    Open,
    /// No request is allowed.
    Closed,
}

kernel::names! {
    GateStatus {
        Open = "open",
        Closed = "closed",
    }
}

/// An HTTP method that a gate can allow. `CONNECT` and `TRACE` are never allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are those of HTTP")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

kernel::names! {
    Method {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
        Options = "OPTIONS",
    }
}

/// A workspace's permission to reach one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Id of the gate.
    pub id: GateId,
    /// Workspace that the gate belongs to.
    pub workspace: WorkspaceId,
    /// Display name.
    pub name: String,
    /// Host that the gate allows.
    pub host: GateHost,
    /// Methods that the gate allows.
    pub methods: Vec<Method>,
    /// Connection whose secret is added to requests.
    pub connection: Option<ConnectionId>,
    /// Status of the gate.
    pub status: GateStatus,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl Gate {
    /// Creates an open gate without a connection.
    #[must_use]
    pub fn new_open(
        ctx: &Context,
        workspace: WorkspaceId,
        name: impl Into<String>,
        host: GateHost,
        methods: Vec<Method>,
    ) -> Self {
        Self {
            id: ctx.new_id(),
            workspace,
            name: name.into(),
            host,
            methods,
            connection: None,
            status: GateStatus::Open,
            created_at: ctx.now,
        }
    }
}

/// A gate with the apps that need it and its recent refusals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateView {
    /// Gate.
    pub gate: Gate,
    /// Apps whose manifest declares the host.
    pub apps: Vec<AppId>,
    /// Refusals in the last 24 hours.
    pub blocked_24h: u64,
}
