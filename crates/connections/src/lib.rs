//! What may leave a workspace, and through which gate. No I/O happens here.
//!
//! * [`gates`]: a workspace's rule for one outside host, and the use cases on it
//! * [`egress`]: the decision on one request: its URL, its host, its method, its headers
//! * [`outbound`]: the port through which permitted requests leave
//! * [`address`]: which addresses of the internet may be dialled at all
//! * [`host`]: names of hosts

pub mod address;
pub mod egress;
pub mod gates;
pub mod host;
pub mod outbound;

pub use egress::{EgressPolicy, Permit, Ports, Refusal, RefusalCode, decide};
pub use gates::{ConnectionsTx, Gate, GateReader, GateStatus, GateTx};
pub use host::GateHost;
pub use outbound::{Outbound, OutboundRequest, OutboundResponse};
