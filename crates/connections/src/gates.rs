//! Gates: a workspace's permission to reach one host.
//!
//! An app may reach a host that its manifest declares and that an open gate of its workspace allows.

mod list;
mod ports;
mod set_status;

use std::{fmt, str::FromStr};

use kernel::{
    Context, Problem, Timestamp,
    id::{AppId, ConnectionId, GateId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

pub use list::list_gates;
pub use ports::{ConnectionsTx, GateReader, GateTx};
pub use set_status::{GateError, set_gate_status};

use crate::host::GateHost;

/// The status of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateStatus {
    /// Requests with one of the gate's methods are allowed.
    Open,
    /// No request is allowed.
    Closed,
}

impl GateStatus {
    /// Returns the name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

impl FromStr for GateStatus {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "open" => Ok(Self::Open),
            "closed" => Ok(Self::Closed),
            _ => Err(Problem::invalid_field("status", "must be open or closed")),
        }
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

impl Method {
    /// Every method.
    pub const ALL: [Self; 7] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    /// Returns the name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Method {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        Self::ALL.into_iter().find(|method| method.as_str() == text).ok_or_else(|| {
            Problem::invalid_field("methods", "must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS")
        })
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
