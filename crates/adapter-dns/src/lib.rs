//! Lookups in the DNS over a stub resolver.
//!
//! * [`DnsTxtResolver`]: TXT records that verify join domains, [`workspace::join_domains::TxtResolver`]
//! * [`DnsAddressResolver`]: addresses of hosts that apps and connections reach, from the server that the operator names
//!
//! Responses are not cached: whoever has just published a record checks again at once, and an address is checked anew for
//! each request. The time of a lookup, the number of records and their length are bounded.

mod addresses;
mod stub_resolver;
mod txt;

pub use addresses::DnsAddressResolver;
pub use stub_resolver::DnsSetupError;
pub use txt::DnsTxtResolver;
