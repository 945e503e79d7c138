//! Resolution of host names, as a port so that tests can forge it.

use std::{io, net::IpAddr};

use async_trait::async_trait;
use connections::{EgressPermit, GateHost, Refusal, RefusalCode};

/// Resolves host names.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Returns every address of the name.
    ///
    /// # Errors
    /// Fails if the name does not resolve.
    async fn resolve(&self, host: &GateHost) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &GateHost) -> io::Result<Vec<IpAddr>> {
        // The dot at the end keeps the system from trying its search domains.
        let absolute = format!("{host}.");
        let found = tokio::net::lookup_host((absolute.as_str(), 443)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// Returns the address to connect to: the first, if all of them are allowed. A name with an allowed and a blocked
/// address is an attack or a mistake, and choosing the allowed one would help with neither.
pub(crate) async fn resolve_permitted_address(
    resolver: &dyn Resolve,
    permit: &EgressPermit,
) -> Result<IpAddr, Refusal> {
    let host = permit.host();
    let addresses = match permit.allowed_host().and_then(connections::egress::AllowedHost::pinned_address) {
        Some(pinned) => vec![pinned.ip()],
        None => resolver.resolve(host).await.map_err(|error| {
            tracing::debug!(%host, %error, "cannot resolve a host name");
            Refusal::new(RefusalCode::DnsFailed, format!("{host} does not resolve"))
        })?,
    };
    if addresses.iter().any(|address| !permit.allows_address(*address)) {
        return Err(Refusal::new(
            RefusalCode::PrivateAddress,
            format!("{host} leads to an address that may not be dialled"),
        ));
    }
    // IPv4 first: not every machine has a route to IPv6, and only one address is tried.
    let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    first.copied().ok_or_else(|| Refusal::new(RefusalCode::DnsFailed, format!("{host} has no address")))
}
