//! The decision on one request that wants out.
//!
//! The order is fixed, and with it the reason that is told: the URL, the manifest, the gate, the port, the method,
//! the path; then the headers. What comes after (names, addresses, answers) needs the network and is the adapter's,
//! which reports it in the same [`RefusalCode`]s.

mod authorize;
mod declared;
mod headers;
pub mod log_entry;
mod operator;
mod refusal;

use crate::gates::Gate;

pub use authorize::{EgressPermit, authorize_egress};
pub use declared::DeclaredEgress;
pub use headers::{MAX_HEADERS_BYTES, check_headers};
pub use operator::{AllowedHost, InvalidAllowedHost};
pub use refusal::{Refusal, RefusalCode};

/// The ports that may be dialled: 443, and what the operator adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedPorts(Vec<u16>);

impl AllowedPorts {
    /// 443 and these.
    #[must_use]
    pub fn with_extra(more: Vec<u16>) -> Self {
        Self(more)
    }

    fn allows(&self, port: u16) -> bool {
        port == 443 || self.0.contains(&port)
    }
}

/// What one run of an app may reach: what its manifest declares, of that what the open gates let through.
#[derive(Debug, Clone, Default)]
pub struct EgressPolicy {
    /// The manifest's egress.
    pub declared: Vec<DeclaredEgress>,
    /// The gates of the workspace; closed ones let nothing through.
    pub gates: Vec<Gate>,
    /// The operator's ports.
    pub ports: AllowedPorts,
    /// The operator's exceptions for hosts inside the own network.
    pub allowed_hosts: Vec<AllowedHost>,
}
