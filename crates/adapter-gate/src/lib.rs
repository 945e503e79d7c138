//! Outbound HTTP: sends the requests that [`connections::egress::authorize_egress`] allowed.
//!
//! An [`EgressPermit`](connections::egress::EgressPermit) says that a request may be sent; this crate sends it. The
//! name is resolved once. If *any* of its addresses is blocked, the request is refused; otherwise the very address that
//! was checked is connected to, under the original name. There are no proxies, no cookies and no redirects to another
//! origin. Time is bounded, and so are the bytes in both directions, which are counted while they stream.
//!
//! The same holds for the metadata documents of agent clients, which [`ClientMetadataFetcher`] fetches.
//!
//! Hosts in private networks are reachable only through an operator's
//! [`AllowedHost`](connections::egress::AllowedHost). Tests use one to reach a server on loopback over plain HTTP.

mod client;
mod client_metadata;
mod egress_client;
mod error;
mod limits;
mod resolve;

pub use client_metadata::ClientMetadataFetcher;
pub use egress_client::EgressClient;
pub use limits::EgressLimits;
pub use resolve::{Resolve, SystemResolver};
