//! The operator's exceptions: hosts of the internal network that apps may reach.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use ipnet::IpNet;

use crate::{host::GateHost, ip_filter::is_never_allowed};

/// A host of the internal network that the operator lets apps reach, over `http` too. The manifest must still declare
/// it, and a gate must still allow it.
///
/// The form is `host:port=network`, for example `erp.example.com:8080=10.1.2.0/24`. If the network is a single address,
/// that address is dialled without resolving the name. Addresses of cloud metadata services are refused in any case;
/// see [`is_never_allowed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    host: GateHost,
    port: u16,
    network: IpNet,
}

/// The error for an exception that is not of the form `host:port=network`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form host:port=network, such as erp.example.com:8080=10.1.2.0/24")]
pub struct InvalidAllowedHost(String);

impl AllowedHost {
    /// Allows `host` at `port`, as long as it resolves to an address in `network`.
    #[must_use]
    pub fn new(host: GateHost, port: u16, network: IpNet) -> Self {
        Self { host, port, network }
    }

    /// Returns `true` if the exception is about this host and port.
    #[must_use]
    pub fn matches(&self, host: &GateHost, port: u16) -> bool {
        self.host == *host && self.port == port
    }

    /// Returns `true` if the name may resolve to `address`.
    #[must_use]
    pub fn allows_address(&self, address: IpAddr) -> bool {
        self.network.contains(&address) && !is_never_allowed(address)
    }

    /// Returns the address to dial if the network is a single address.
    #[must_use]
    pub fn pinned_address(&self) -> Option<SocketAddr> {
        (self.network.prefix_len() == self.network.max_prefix_len())
            .then(|| SocketAddr::new(self.network.addr(), self.port))
    }
}

impl FromStr for AllowedHost {
    type Err = InvalidAllowedHost;

    fn from_str(text: &str) -> Result<Self, InvalidAllowedHost> {
        let read = || {
            let (authority, network) = text.split_once('=')?;
            let (host, port) = authority.rsplit_once(':')?;
            let network: IpNet =
                network.parse().ok().or_else(|| Some(network.parse::<IpAddr>().ok()?.into()))?;
            Some(Self::new(GateHost::parse(host).ok()?, port.parse().ok()?, network))
        };
        read().ok_or_else(|| InvalidAllowedHost(text.to_owned()))
    }
}
