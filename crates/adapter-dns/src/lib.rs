//! What stands in DNS, for proofs of domains: [`workspace::join_domains::TxtResolver`] over a stub resolver.
//!
//! Answers are not remembered here, since whoever has just published a record asks again at once. Everything is
//! bounded: the time of a look, the number of records, and their length.

use std::{net::SocketAddr, time::Duration};

use async_trait::async_trait;
use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts},
    net::{DnsError, NetError, runtime::TokioRuntimeProvider},
    proto::{op::ResponseCode, rr::RData},
};
use workspace::join_domains::{DnsLookupError, TxtResolver};

/// How long one question to one server may take.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a look may take, repeats and other servers included.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(6);
/// How many records are looked at; a domain with more has no use for ours.
const MAX_RECORDS: usize = 50;
/// How many bytes of a record are looked at.
const MAX_RECORD_BYTES: usize = 512;

/// Asks name servers.
pub struct DnsTxtResolver(TokioResolver);

/// The resolver cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the system's resolver configuration cannot be used")]
pub struct DnsSetupError(#[source] NetError);

impl DnsTxtResolver {
    /// Asks the given server, over UDP and, for answers that are too long for it, TCP; the system's servers when none
    /// is given.
    ///
    /// # Errors
    /// When the system's configuration cannot be read.
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
        f.debug_struct("Dns").finish_non_exhaustive()
    }
}

#[async_trait]
impl TxtResolver for DnsTxtResolver {
    async fn lookup_txt(&self, host: &str) -> Result<Vec<String>, DnsLookupError> {
        // The dot at the end keeps search domains out.
        let lookup = self.0.txt_lookup(format!("{host}."));
        let answer = match tokio::time::timeout(LOOKUP_TIMEOUT, lookup).await {
            Err(late) => return Err(DnsLookupError(late.into())),
            Ok(Err(error)) if is_no_records_found(&error) => return Ok(Vec::new()),
            Ok(Err(error)) => {
                tracing::debug!(host, %error, "a TXT record could not be looked up");
                return Err(DnsLookupError(error.into()));
            }
            Ok(Ok(answer)) => answer,
        };
        let texts = answer.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(txt.txt_data.concat()),
            _ => None,
        });
        // What is no text proves nothing.
        Ok(texts
            .take(MAX_RECORDS)
            .filter(|text| text.len() <= MAX_RECORD_BYTES)
            .filter_map(|text| String::from_utf8(text).ok())
            .collect())
    }
}

/// Whether a server has said for certain that there is no such record, and not merely failed to say.
fn is_no_records_found(error: &NetError) -> bool {
    matches!(
        error,
        NetError::Dns(DnsError::NoRecordsFound(none))
            if matches!(none.response_code, ResponseCode::NXDomain | ResponseCode::NoError)
    )
}
