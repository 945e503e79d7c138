//! The resolver of names that apps and connections reach.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use adapter_dns::DnsAddressResolver;
use adapter_gate::{Resolve, SystemResolver};
use anyhow::Context as _;
use async_trait::async_trait;
use connections::GateHost;

/// A DNS server that the operator named.
struct NamedServer(DnsAddressResolver);

#[async_trait]
impl Resolve for NamedServer {
    async fn resolve(&self, host: &GateHost) -> io::Result<Vec<IpAddr>> {
        self.0.lookup_addresses(host.as_str()).await
    }
}

/// Returns a resolver that asks `server`; without one, the operating system.
pub(crate) fn outside_resolver(server: Option<SocketAddr>) -> anyhow::Result<Arc<dyn Resolve>> {
    Ok(match server {
        Some(server) => {
            let resolver = DnsAddressResolver::new(server).context("--dns-server: cannot set up DNS")?;
            Arc::new(NamedServer(resolver))
        }
        None => Arc::new(SystemResolver),
    })
}
