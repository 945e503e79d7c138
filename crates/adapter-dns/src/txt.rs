//! TXT records that verify join domains.

use std::net::SocketAddr;

use async_trait::async_trait;
use hickory_resolver::{TokioResolver, proto::rr::RData};
use workspace::join_domains::{DnsLookupError, TxtResolver};

use crate::stub_resolver::{DnsSetupError, LOOKUP_TIMEOUT, is_no_records_found, stub_resolver};

/// Maximum number of records that are read; further ones are ignored.
const MAX_RECORDS: usize = 50;
/// Maximum length of a record in bytes; longer ones are ignored.
const MAX_RECORD_BYTES: usize = 512;

/// Looks up TXT records.
pub struct DnsTxtResolver(TokioResolver);

impl DnsTxtResolver {
    /// Creates a resolver that asks `server`; without one, the servers of the system's configuration.
    ///
    /// # Errors
    /// Fails if the system's configuration cannot be read.
    pub fn new(server: Option<SocketAddr>) -> Result<Self, DnsSetupError> {
        stub_resolver(server).map(Self)
    }
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
