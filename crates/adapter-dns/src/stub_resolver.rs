//! The stub resolver that both kinds of lookups use.

use std::{net::SocketAddr, time::Duration};

use hickory_resolver::{
    TokioResolver,
    config::{
        ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
    },
    net::{DnsError, NetError, runtime::TokioRuntimeProvider},
    proto::op::ResponseCode,
};

/// Time limit of one query to one server.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit of a lookup, with retries and other servers.
pub(crate) const LOOKUP_TIMEOUT: Duration = Duration::from_secs(6);

/// The error for a resolver that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the system's resolver configuration")]
pub struct DnsSetupError(#[source] NetError);

/// Creates a resolver that queries `server` over UDP, and over TCP for responses too long for UDP; without one, the
/// servers of the system's configuration.
pub(crate) fn stub_resolver(server: Option<SocketAddr>) -> Result<TokioResolver, DnsSetupError> {
    let mut builder = match server {
        Some(server) => {
            let at_port = |mut connection: ConnectionConfig| {
                connection.port = server.port();
                connection
            };
            let connections = vec![at_port(ConnectionConfig::udp()), at_port(ConnectionConfig::tcp())];
            let servers = vec![NameServerConfig::new(server.ip(), true, connections)];
            let config = ResolverConfig::from_name_servers(servers);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        }
        None => TokioResolver::builder_tokio().map_err(DnsSetupError)?,
    };
    configure(builder.options_mut());
    builder.build().map_err(DnsSetupError)
}

fn configure(options: &mut ResolverOpts) {
    options.timeout = QUERY_TIMEOUT;
    options.attempts = 2;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    // All addresses are checked, so both kinds are asked for.
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
}

/// Returns true if a server said that there is no such record, rather than failed to say.
pub(crate) fn is_no_records_found(error: &NetError) -> bool {
    matches!(
        error,
        NetError::Dns(DnsError::NoRecordsFound(none))
            if matches!(none.response_code, ResponseCode::NXDomain | ResponseCode::NoError)
    )
}
