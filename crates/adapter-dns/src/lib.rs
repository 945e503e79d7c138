//! Looks up the TXT records that verify join domains: [`workspace::join_domains::TxtResolver`] over a stub resolver.
//!
//! Responses are not cached, since whoever has just published a record checks again at once. The time of a lookup, the
//! number of records and their length are bounded.

use std::{net::SocketAddr, time::Duration};

use async_trait::async_trait;
use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts},
    net::{DnsError, NetError, runtime::TokioRuntimeProvider},
    proto::{op::ResponseCode, rr::RData},
};
use workspace::join_domains::{DnsLookupError, TxtResolver};

/// Time limit of one query to one server.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit of a lookup, with retries and other servers.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(6);
/// Maximum number of records that are read; further ones are ignored.
const MAX_RECORDS: usize = 50;
/// Maximum length of a record in bytes; longer ones are ignored.
const MAX_RECORD_BYTES: usize = 512;

/// Looks up TXT records.
pub struct DnsTxtResolver(TokioResolver);

/// The error for a resolver that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the system's resolver configuration")]
pub struct DnsSetupError(#[source] NetError);

impl DnsTxtResolver {
    /// Creates a resolver that queries `server` over UDP, and over TCP for responses too long for UDP; without one, the
    /// servers of the system's configuration.
    ///
    /// # Errors
    /// Fails if the system's configuration cannot be read.
    pub fn new(server: Option<SocketAddr>) -> Result<Self, DnsSetupError> {
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
        builder.build().map(Self).map_err(DnsSetupError)
    }
}

fn configure(options: &mut ResolverOpts) {
    options.timeout = QUERY_TIMEOUT;
    options.attempts = 2;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
}

impl std::fmt::Debug for DnsTxtResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DnsTxtResolver").finish_non_exhaustive()
    }
}

#[async_trait]
impl TxtResolver for DnsTxtResolver {
    #[tracing::instrument(level = "debug", skip_all, fields(host, method = "TXT"))]
    async fn lookup_txt(&self, host: &str) -> Result<Vec<String>, DnsLookupError> {
        // The dot at the end keeps search domains out.
        let lookup = self.0.txt_lookup(format!("{host}."));
        let response = match tokio::time::timeout(LOOKUP_TIMEOUT, lookup).await {
            Err(late) => return Err(DnsLookupError(late.into())),
            Ok(Err(error)) if is_no_records_found(&error) => return Ok(Vec::new()),
            Ok(Err(error)) => {
                tracing::debug!(host, %error, "cannot look up a TXT record");
                return Err(DnsLookupError(error.into()));
            }
            Ok(Ok(response)) => response,
        };
        let texts = response.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(txt.txt_data.concat()),
            _ => None,
        });
        // A record that is not text verifies nothing.
        Ok(texts
            .take(MAX_RECORDS)
            .filter(|text| text.len() <= MAX_RECORD_BYTES)
            .filter_map(|text| String::from_utf8(text).ok())
            .collect())
    }
}

/// Returns true if a server said that there is no such record, rather than failed to say.
fn is_no_records_found(error: &NetError) -> bool {
    matches!(
        error,
        NetError::Dns(DnsError::NoRecordsFound(none))
            if matches!(none.response_code, ResponseCode::NXDomain | ResponseCode::NoError)
    )
}
