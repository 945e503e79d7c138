//! Addresses of hosts that apps and connections reach.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use hickory_resolver::TokioResolver;

use crate::stub_resolver::{DnsSetupError, LOOKUP_TIMEOUT, is_no_records_found, stub_resolver};

/// Maximum number of addresses that are read; further ones are ignored, and never connected to.
const MAX_ADDRESSES: usize = 64;

/// Looks up the addresses of a name at one DNS server.
pub struct DnsAddressResolver(TokioResolver);

impl DnsAddressResolver {
    /// Creates a resolver that asks `server`.
    ///
    /// # Errors
    /// Fails if the resolver cannot be set up.
    pub fn new(server: SocketAddr) -> Result<Self, DnsSetupError> {
        stub_resolver(Some(server)).map(Self)
    }

    /// Returns the IPv4 and IPv6 addresses of a name, aliases followed.
    ///
    /// # Errors
    /// Fails if the name does not exist or has no address, the server fails or refuses to say, or does not respond within
    /// six seconds.
    #[tracing::instrument(level = "debug", skip_all, fields(host, method = "A"))]
    pub async fn lookup_addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The dot at the end keeps search domains out.
        let lookup = self.0.lookup_ip(format!("{host}."));
        let found = tokio::time::timeout(LOOKUP_TIMEOUT, lookup).await?;
        let found = found.map_err(|error| match is_no_records_found(&error) {
            true => io::Error::new(io::ErrorKind::NotFound, error),
            false => io::Error::other(error),
        })?;
        Ok(found.iter().take(MAX_ADDRESSES).collect())
    }
}

impl std::fmt::Debug for DnsAddressResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DnsAddressResolver").finish_non_exhaustive()
    }
}
