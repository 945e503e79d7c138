//! Gates: a workspace's rule for one outside host.
//!
//! What an app may reach is what its manifest declares, of that what the workspace's open gates let through.

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

/// Whether a gate lets anything through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum GateStatus {
    /// Requests that fit its rule pass.
    Open,
    /// Nothing passes.
    Closed,
}

impl GateStatus {
    /// The name on the wire and in stores.
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

/// The methods a request may have; `CONNECT` and `TRACE` never leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[expect(missing_docs, reason = "the names say it")]
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

    /// The name on the wire and in stores.
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
            Problem::invalid_field("methods", "may hold GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
        })
    }
}

/// A workspace's rule for one outside host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The gate.
    pub id: GateId,
    /// Whose it is.
    pub workspace: WorkspaceId,
    /// What people call it.
    pub name: String,
    /// The only host it leads to.
    pub host: GateHost,
    /// The methods it lets through.
    pub methods: Vec<Method>,
    /// The connection whose secret is added to what passes.
    pub connection: Option<ConnectionId>,
    /// Whether it lets anything through.
    pub status: GateStatus,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Gate {
    /// A new, open gate without a connection.
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

/// A gate with what a list tells beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateView {
    /// The gate.
    pub gate: Gate,
    /// The apps whose manifest declares its host.
    pub apps: Vec<AppId>,
    /// Refusals in the last 24 hours.
    pub blocked_24h: u64,
}
