//! Outbound HTTP: sends the requests that [`connections::egress::authorize_egress`] allowed.
//!
//! An [`EgressPermit`](connections::egress::EgressPermit) says that a request may be sent; this crate sends it. The
//! name is resolved once. If *any* of its addresses is blocked, the request is refused; otherwise the very address that
//! was checked is connected to, under the original name. There are no proxies, no cookies and no redirects to another
//! origin. Time is bounded, and so are the bytes in both directions, which are counted while they stream. A body that is
//! short or already there is returned as a whole, any other in pieces; a secret is found wherever they are split.
//!
//! A request through a connection gets its credential when nothing is left that could refuse it, and its response loses
//! every trace of the credential before the app sees it. Token endpoints are asked in the same way.
//!
//! The same holds for the metadata documents of agent clients, which [`ClientMetadataFetcher`] fetches.
//!
//! Hosts in private networks are reachable only through an operator's
//! [`AllowedHost`](connections::egress::AllowedHost). Tests use one to reach a server on loopback over plain HTTP.

mod client;
mod client_metadata;
mod content_coding;
mod credential;
mod egress_client;
mod error;
mod limits;
mod representation;
mod request_body;
mod resolve;
mod response_body;
mod search;
mod service_account;
mod token_request;
mod transport;

pub use client_metadata::ClientMetadataFetcher;
pub use egress_client::EgressClient;
pub use limits::EgressLimits;
pub use resolve::{Resolve, SystemResolver};
