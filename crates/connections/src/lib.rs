//! Egress of a workspace: which requests app code may send to other hosts. No I/O happens here.
//!
//! * [`gates`]: a workspace's permission to reach one host, and the use cases on it
//! * [`egress`]: the decision on one request, by its URL, method and headers
//! * [`outbound`]: the port that sends permitted requests
//! * [`ip_filter`]: the IP addresses that may be dialled
//! * [`host`]: names of external hosts

pub mod egress;
pub mod gates;
pub mod host;
pub mod ip_filter;
pub mod outbound;
#[cfg(test)]
mod testing;

pub use egress::{AllowedPorts, EgressPermit, EgressPolicy, Refusal, RefusalCode, authorize_egress};
pub use gates::{ConnectionsTx, Gate, GateReader, GateStatus, GateTx};
pub use host::GateHost;
pub use outbound::{OutboundClient, OutboundRequest, OutboundResponse};
