//! A connection: a service that a workspace's apps may call with a stored credential.

mod http;
mod http_input;
mod sealing;

use std::collections::BTreeMap;

use kernel::{
    Timestamp,
    id::{AppId, ConnectionId, GateId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::{gates::GateStatus, last_check::LastCheck};

pub use http::{BaseUrl, ExtraHeader, HttpConnection};
pub use http_input::{
    HeaderInput, HttpConnectionInput, MAX_HEADERS, ValidHttpConnection, check_display_name,
};
pub use sealing::{SealingContext, SecretPurpose, secret_need};

/// Most connections of a workspace, disconnected ones included.
pub const MAX_CONNECTIONS: u64 = 200;

/// Connector id of connections that are described by hand.
pub const HTTP_CONNECTOR: &str = "http";

/// The name of a connection's status on the wire and in stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "described at `ConnectionStatus`")]
pub enum ConnectionStatusName {
    Connected,
    Expired,
    Error,
    Disconnected,
}

kernel::names! {
    ConnectionStatusName {
        Connected = "connected",
        Expired = "expired",
        Error = "error",
        Disconnected = "disconnected",
    }
}

/// The status of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// Requests are sent. The service rejected the credential this many times in a row.
    Connected {
        /// Rejections since the last success, fewer than [`crate::health::FAILURES_UNTIL_ERROR`].
        auth_failures: u32,
    },
    /// The grant has ended; somebody has to connect again. Requests are refused.
    Expired {
        /// Time at which the token endpoint said so.
        since: Timestamp,
    },
    /// The service rejects the credential. Requests are still sent, and the next success restores the connection.
    Error {
        /// Time of the rejection that led here.
        since: Timestamp,
    },
    /// Somebody disconnected it; the secret is deleted.
    Disconnected {
        /// Time of disconnection.
        since: Timestamp,
    },
}

impl ConnectionStatus {
    /// A connection that was just made.
    pub const NEW: Self = Self::Connected { auth_failures: 0 };

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> ConnectionStatusName {
        match self {
            Self::Connected { .. } => ConnectionStatusName::Connected,
            Self::Expired { .. } => ConnectionStatusName::Expired,
            Self::Error { .. } => ConnectionStatusName::Error,
            Self::Disconnected { .. } => ConnectionStatusName::Disconnected,
        }
    }

    /// Returns `true` once somebody disconnected it.
    #[must_use]
    pub fn is_disconnected(self) -> bool {
        matches!(self, Self::Disconnected { .. })
    }
}

/// Returns the id of a connection's gate: it has the UUID of the connection.
#[must_use]
pub fn gate_of(connection: ConnectionId) -> GateId {
    GateId::from_uuid(connection.uuid())
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Id of the connection.
    pub id: ConnectionId,
    /// Workspace that the connection belongs to.
    pub workspace: WorkspaceId,
    /// Connector: [`HTTP_CONNECTOR`] or the id of a catalogue entry.
    pub connector: String,
    /// Display name; 1 to 60 characters.
    pub display_name: String,
    /// Status.
    pub status: ConnectionStatus,
    /// Time at which the secret was last given; none if there never was one.
    pub connected_at: Option<Timestamp>,
    /// Id of the master key with which the secret is sealed; none without a secret.
    pub key_id: Option<String>,
    /// Number of the stored secret, which is bound to it; 0 before the first.
    pub secret_version: u32,
    /// Where requests go and how they prove themselves.
    pub http: HttpConnection,
    /// Values of the catalogue entry's fields; empty for [`HTTP_CONNECTOR`].
    pub values: BTreeMap<String, String>,
    /// E-mail address of the service account, for that kind of `auth`.
    pub service_account: Option<String>,
    /// Whether requests may pass: a connection is its own gate.
    pub gate: GateStatus,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change that somebody made.
    pub updated_at: Timestamp,
    /// Number of changes; 1 after creation.
    pub revision: u32,
}

impl Connection {
    /// Returns `true` if a secret is stored.
    #[must_use]
    pub fn has_secret(&self) -> bool {
        self.key_id.is_some()
    }

    /// Returns what the secret is bound to.
    #[must_use]
    pub fn sealing_context(&self, purpose: SecretPurpose) -> SealingContext {
        SealingContext::new(self.workspace, self.id, purpose, &self.http.host, self.secret_version)
    }
}

/// Calls of a connection in the last 24 hours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionHealth {
    /// Requests that were sent.
    pub calls_24h: u64,
    /// Requests that failed, at the network or with a status of 400 or more.
    pub errors_24h: u64,
    /// Requests that a rule refused.
    pub blocked_24h: u64,
    /// Time of the last request that was sent.
    pub last_call_at: Option<Timestamp>,
}

/// An app whose current version names the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionUser {
    /// App.
    pub app: AppId,
    /// Name of the app.
    pub name: String,
    /// Archetype of the app.
    pub archetype: String,
    /// Category of the app.
    pub category: String,
    /// Whether the app is paused.
    pub is_paused: bool,
}

/// A connection as members see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionView {
    /// Connection.
    pub connection: Connection,
    /// Calls of the last 24 hours.
    pub health: ConnectionHealth,
    /// Apps whose current version names it, by id.
    pub used_by: Vec<ConnectionUser>,
    /// Last test of the connection as it is now; none if it was not tested since its last change.
    pub last_check: Option<LastCheck>,
}

impl ConnectionView {
    /// Returns a connection of which nothing else is known.
    #[must_use]
    pub fn bare(connection: Connection) -> Self {
        Self { connection, health: ConnectionHealth::default(), used_by: Vec::new(), last_check: None }
    }
}
