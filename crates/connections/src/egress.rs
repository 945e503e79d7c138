//! The decision on one request of app code to another host.
//!
//! Checks run in a fixed order, so that a request is always refused for the same reason: the URL, the manifest, the
//! gate, the port, the method, the path; then the headers. Later checks (names, addresses, responses) need the network.
//! The adapter makes them, and reports them by the same [`RefusalCode`]s.

mod authorize;
mod connection;
mod connection_policy;
mod connector_base;
mod declared;
mod headers;
pub mod log_entry;
mod operator;
mod permit;
mod redirect;
mod refusal;
mod request_url;

use crate::gates::Gate;

pub use authorize::authorize_egress;
pub use connection::{authorize_connection, authorize_token_request};
pub use connection_policy::ConnectionPolicy;
pub use connector_base::{ConnectorBase, InvalidConnectorBase};
pub use declared::{DeclaredEgress, InvalidDeclaration};
pub use headers::{MAX_HEADERS_BYTES, check_headers};
pub use operator::{AllowedHost, InvalidAllowedHost};
pub use permit::EgressPermit;
pub use refusal::{Refusal, RefusalCode};

/// The ports that may be dialled: 443, and those that the operator adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedPorts(Vec<u16>);

impl AllowedPorts {
    /// Allows 443 and these ports.
    #[must_use]
    pub fn with_extra(more: Vec<u16>) -> Self {
        Self(more)
    }

    fn allows(&self, port: u16) -> bool {
        port == 443 || self.0.contains(&port)
    }
}

/// The rules for one run of an app. It may reach what both its manifest declares and an open gate allows.
#[derive(Debug, Clone, Default)]
pub struct EgressPolicy {
    /// Hosts that the manifest declares.
    pub declared: Vec<DeclaredEgress>,
    /// Gates of the workspace; closed ones allow nothing.
    pub gates: Vec<Gate>,
    /// Ports that the operator allows.
    pub ports: AllowedPorts,
    /// Operator's exceptions for hosts of the internal network.
    pub allowed_hosts: Vec<AllowedHost>,
}
