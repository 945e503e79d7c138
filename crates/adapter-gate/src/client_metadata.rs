//! Documents in which agent clients describe themselves, fetched from wherever their ids point.
//!
//! The address comes from anybody who asks to be let in, so this goes nowhere but to the internet's https: the name is
//! resolved once, no address may be special, and the very address that was judged is dialled. No redirect is followed.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use connections::{GateHost, ip_filter::is_blocked};
use http::{HeaderMap, StatusCode, header};
use identity::oauth::{
    Client, ClientDocumentFetcher,
    clients::{DocumentError, MAX_DOCUMENT_BYTES, MetadataUrl, parse_document},
};
use moka::{Expiry, future::Cache};
use rustls::ClientConfig;
use tokio::sync::Semaphore;

use crate::{
    client::{build_pinned_client, tls_config},
    resolve::{Resolve, SystemResolver},
};

/// From asking for the name to the last byte.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const MIN_TTL: Duration = Duration::from_secs(300);
const MAX_TTL: Duration = Duration::from_secs(24 * 3600);
/// How many documents are remembered.
const MAX_CACHED_DOCUMENTS: u64 = 1000;
/// How many are fetched at once, so that nobody turns this server on somebody else's.
const MAX_CONCURRENT_FETCHES: usize = 16;

/// A fetched document and for how long it may be believed.
#[derive(Clone)]
struct CachedDocument {
    client: Arc<Client>,
    ttl: Duration,
}

struct TtlExpiry;

impl Expiry<MetadataUrl, CachedDocument> for TtlExpiry {
    fn expire_after_create(&self, _: &MetadataUrl, found: &CachedDocument, _: Instant) -> Option<Duration> {
        Some(found.ttl)
    }
}

/// Fetches clients' documents and remembers them for a while.
pub struct ClientMetadataFetcher {
    resolver: Arc<dyn Resolve>,
    tls: ClientConfig,
    allow_loopback: bool,
    cache: Cache<MetadataUrl, CachedDocument>,
    fetch_permits: Semaphore,
}

impl ClientMetadataFetcher {
    /// A fetcher with the system's resolver. With `loopback`, documents may also be on this very machine, as those of
    /// somebody who develops a client are; for a server that is itself reached only from there.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(loopback: bool) -> io::Result<Self> {
        Self::with_resolver(loopback, Arc::new(SystemResolver))
    }

    /// A fetcher with another resolver.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn with_resolver(loopback: bool, resolver: Arc<dyn Resolve>) -> io::Result<Self> {
        Ok(Self {
            resolver,
            tls: tls_config()?,
            allow_loopback: loopback,
            cache: Cache::builder().max_capacity(MAX_CACHED_DOCUMENTS).expire_after(TtlExpiry).build(),
            fetch_permits: Semaphore::new(MAX_CONCURRENT_FETCHES),
        })
    }

    async fn fetch_with_timeout(&self, id: &MetadataUrl) -> Result<CachedDocument, DocumentError> {
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, async {
            let _place = self.fetch_permits.acquire().await.map_err(unreachable)?;
            self.fetch_document(id).await
        });
        fetched.await.unwrap_or_else(|_| Err(DocumentError::Unreachable("it takes too long".to_owned())))
    }

    async fn fetch_document(&self, id: &MetadataUrl) -> Result<CachedDocument, DocumentError> {
        let refuse = |what: &str| DocumentError::Unreachable(what.to_owned());
        let address = self.resolve_permitted_address(id).await?;
        let port = id.url().port_or_known_default().unwrap_or_default();
        if port != 443 && !address.is_loopback() {
            return Err(refuse("only port 443 is asked"));
        }
        let target = SocketAddr::new(address, port);
        let client = build_pinned_client(&self.tls, id.host(), target, FETCH_TIMEOUT).map_err(unreachable)?;
        let request = client.get(id.url().clone()).header(header::ACCEPT, "application/json");
        let mut response = request.send().await.map_err(unreachable)?;
        // A redirect is one of the others: whoever the id names answers itself.
        if response.status() != StatusCode::OK {
            return Err(DocumentError::Unreachable(format!("the answer is {}", response.status())));
        }
        if !is_json(response.headers()) {
            return Err(refuse("the answer is not JSON"));
        }
        let lasts = cache_ttl(response.headers());
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if document.len() + chunk.len() > MAX_DOCUMENT_BYTES {
                return Err(DocumentError::Invalid("is longer than 5 KiB"));
            }
            document.extend_from_slice(&chunk);
        }
        Ok(CachedDocument { client: Arc::new(parse_document(id, &document)?), ttl: lasts })
    }

    /// The one address to dial: the first, and only when every one of them may be dialled.
    async fn resolve_permitted_address(&self, id: &MetadataUrl) -> Result<IpAddr, DocumentError> {
        let refuse = |what: &str| DocumentError::Unreachable(what.to_owned());
        let addresses = match id.url().host() {
            Some(url::Host::Ipv4(address)) => vec![address.into()],
            Some(url::Host::Ipv6(address)) => vec![address.into()],
            Some(url::Host::Domain(name)) => {
                let host = GateHost::parse(name).map_err(|_| refuse("the name is not of the internet"))?;
                self.resolver.resolve(&host).await.map_err(|_| refuse("the name does not resolve"))?
            }
            None => Vec::new(),
        };
        let is_permitted =
            |address: &IpAddr| !is_blocked(*address) || self.allow_loopback && address.is_loopback();
        if !addresses.iter().all(is_permitted) {
            return Err(refuse("it leads to an address that may not be dialled"));
        }
        let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
        first.copied().ok_or_else(|| refuse("the name has no address"))
    }
}

fn unreachable(error: impl std::error::Error) -> DocumentError {
    // The innermost cause says what happened; what stands around it repeats the address.
    let mut cause: &dyn std::error::Error = &error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    DocumentError::Unreachable(cause.to_string())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.starts_with("application/") && essence.ends_with("+json")
}

/// For how long an answer may be believed (RFC 9111 §5.2.2.1), within our bounds.
fn cache_ttl(headers: &HeaderMap) -> Duration {
    let directives = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut ages = directives.flat_map(|value| value.split(',')).filter_map(|directive| {
        let (name, value) = directive.split_once('=')?;
        name.trim().eq_ignore_ascii_case("max-age").then(|| value.trim().trim_matches('"').parse().ok())?
    });
    let age = ages.next().map_or(MIN_TTL, Duration::from_secs);
    age.clamp(MIN_TTL, MAX_TTL)
}

#[async_trait]
impl ClientDocumentFetcher for ClientMetadataFetcher {
    async fn fetch_client(&self, id: &MetadataUrl) -> Result<Arc<Client>, DocumentError> {
        // Who asks for the same waits for the same fetch; a failure is not remembered.
        let found = self.cache.try_get_with_by_ref(id, self.fetch_with_timeout(id)).await;
        found.map(|found| found.client).map_err(|error: Arc<DocumentError>| (*error).clone())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn an_answer_is_believed_within_bounds() {
        for (value, seconds) in [
            ("", 300),
            ("no-store", 300),
            ("max-age=10", 300),
            ("public, Max-Age=\"4000\"", 4000),
            ("max-age=9999999", 86_400),
            ("max-age=-1", 300),
            ("s-maxage=5000", 300),
        ] {
            let headers = HeaderMap::from_iter([(header::CACHE_CONTROL, HeaderValue::from_static(value))]);
            assert_eq!(cache_ttl(&headers), Duration::from_secs(seconds), "{value}");
        }
    }

    #[test]
    fn json_is_told_by_its_type() {
        for (value, json) in [
            ("application/json; charset=utf-8", true),
            ("application/cimd+json", true),
            ("text/html", false),
            ("text/json", false),
        ] {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_json(&headers), json, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
