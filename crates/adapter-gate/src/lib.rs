//! Outbound HTTP under the gate's rules: the second half of what [`connections::egress::authorize_egress`] begins.
//!
//! A [`EgressPermit`](connections::egress::EgressPermit) says that a request may leave; this crate sends it. The name is resolved once;
//! when *any* address is blocked the request is refused, and otherwise the very address that was judged is dialled,
//! under the original name. No proxy, no cookie, no redirect to another origin. Everything is bounded: time, and
//! bytes in both directions, counted while they stream.
//!
//! The same holds for the documents of agent clients, which [`ClientMetadataFetcher`] fetches.
//!
//! Hosts inside the own network are reachable only by an operator's [`AllowedHost`](connections::egress::AllowedHost),
//! which is also how tests reach a server on loopback over http.

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
