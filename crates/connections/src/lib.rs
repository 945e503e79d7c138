//! What may leave a workspace, and through which gate. No I/O happens here.
//!
//! * [`gates`]: a workspace's rule for one outside host, and the use cases on it
//! * [`egress`]: the decision on one request: its URL, its host, its method, its headers
//! * [`outbound`]: the port through which permitted requests leave
//! * [`ip_filter`]: which addresses of the internet may be dialled at all
//! * [`host`]: names of hosts

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
