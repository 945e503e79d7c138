//! Fetches the metadata documents of agent clients from the URLs that are their ids.
//!
//! Anybody can name such a URL, so it must be HTTPS on the internet: the name is resolved once, none of its addresses
//! may be special, and the very address that was checked is connected to. Redirects are not followed.

mod places;

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
use tokio::time::timeout;

use crate::{
    client::{build_pinned_client, tls_config},
    resolve::Resolve,
};
use places::{Places, UNDISTURBED};

/// Time limit from resolving the name to the last byte.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const MIN_TTL: Duration = Duration::from_secs(300);
const MAX_TTL: Duration = Duration::from_secs(24 * 3600);
/// Maximum number of cached documents.
const MAX_CACHED_DOCUMENTS: u64 = 1000;
/// Time that a request waits until its fetch may begin.
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A fetched document, and the time for which it may be cached.
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

/// Fetches the metadata documents of clients and caches them.
pub struct ClientMetadataFetcher {
    resolver: Arc<dyn Resolve>,
    tls: ClientConfig,
    allow_loopback: bool,
    cache: Cache<MetadataUrl, CachedDocument>,
    places: Places,
}

impl ClientMetadataFetcher {
    /// Creates a fetcher that finds hosts with `resolver`. With `loopback`, documents may also be on this machine, such as
    /// those of a client in development; use it only for a server that is itself reachable only from this machine.
    ///
    /// # Errors
    /// Fails if TLS cannot be set up.
    pub fn new(loopback: bool, resolver: Arc<dyn Resolve>) -> io::Result<Self> {
        Ok(Self {
            resolver,
            tls: tls_config()?,
            allow_loopback: loopback,
            cache: Cache::builder().max_capacity(MAX_CACHED_DOCUMENTS).expire_after(TtlExpiry).build(),
            places: Places::new(),
        })
    }

    async fn fetch_with_timeout(&self, id: &MetadataUrl) -> Result<CachedDocument, DocumentError> {
        let late = || DocumentError::Unreachable("it took longer than 5 seconds".to_owned());
        tokio::select! {
            biased;
            fetched = timeout(FETCH_TIMEOUT, self.fetch_document(id)) => fetched.unwrap_or_else(|_| Err(late())),
            () = self.places.disturbed() => Err(DocumentError::Busy),
        }
    }

    #[tracing::instrument(level = "debug", skip_all, fields(host = id.host(), method = "GET"))]
    async fn fetch_document(&self, id: &MetadataUrl) -> Result<CachedDocument, DocumentError> {
        let refuse = |what: &str| DocumentError::Unreachable(what.to_owned());
        let address = self.resolve_permitted_address(id).await?;
        let port = id.url().port_or_known_default().unwrap_or_default();
        if port != 443 && !address.is_loopback() {
            return Err(refuse("the port must be 443"));
        }
        let target = SocketAddr::new(address, port);
        let client = build_pinned_client(&self.tls, id.host(), target, FETCH_TIMEOUT).map_err(unreachable)?;
        let request = client.get(id.url().clone()).header(header::ACCEPT, "application/json");
        let mut response = request.send().await.map_err(unreachable)?;
        // A redirect is refused like any other status: the URL itself must have the document.
        if response.status() != StatusCode::OK {
            return Err(DocumentError::Unreachable(format!("the response status is {}", response.status())));
        }
        if !is_json(response.headers()) {
            return Err(refuse("the response is not JSON"));
        }
        let ttl = cache_ttl(response.headers());
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if document.len() + chunk.len() > MAX_DOCUMENT_BYTES {
                return Err(DocumentError::Invalid("is longer than 5 KiB"));
            }
            document.extend_from_slice(&chunk);
        }
        Ok(CachedDocument { client: Arc::new(parse_document(id, &document)?), ttl })
    }

    /// Returns the address to connect to: the first, if all of them are allowed.
    async fn resolve_permitted_address(&self, id: &MetadataUrl) -> Result<IpAddr, DocumentError> {
        let refuse = |what: &str| DocumentError::Unreachable(what.to_owned());
        let addresses = match id.url().host() {
            Some(url::Host::Ipv4(address)) => vec![address.into()],
            Some(url::Host::Ipv6(address)) => vec![address.into()],
            Some(url::Host::Domain(name)) => {
                let host = GateHost::parse(name).map_err(|_| refuse("the name is not a public host name"))?;
                self.resolver.resolve(&host).await.map_err(|_| refuse("the name does not resolve"))?
            }
            None => Vec::new(),
        };
        let is_permitted =
            |address: &IpAddr| !is_blocked(*address) || self.allow_loopback && address.is_loopback();
        if !addresses.iter().all(is_permitted) {
            return Err(refuse("the host resolves to an address that is not public"));
        }
        let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
        first.copied().ok_or_else(|| refuse("the name has no address"))
    }
}

fn unreachable(error: impl std::error::Error) -> DocumentError {
    // The innermost cause says what happened; the others repeat the URL.
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

/// Returns the time for which a response may be cached (RFC 9111, section 5.2.2.1), between [`MIN_TTL`] and
/// [`MAX_TTL`].
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
    async fn fetch_client(
        &self,
        id: &MetadataUrl,
        network: Option<IpAddr>,
    ) -> Result<Arc<Client>, DocumentError> {
        if let Some(found) = self.cache.get(id).await {
            return Ok(found.client);
        }
        // Each waits for itself, before it shares a fetch: what one network has in flight does not keep others from the
        // document.
        let place = timeout(WAIT_TIMEOUT, self.places.acquire(network, id.host())).await;
        let _place = place.map_err(|_| DocumentError::Busy)?.map_err(unreachable)?;
        // Callers with the same URL wait for the same fetch; a failure is not cached.
        let begun = tokio::time::Instant::now();
        let mut found = self.cache.try_get_with_by_ref(id, self.fetch_with_timeout(id)).await;
        // The fetch of another caller gave way, which this one need not do yet.
        if matches!(&found, Err(error) if matches!(**error, DocumentError::Busy))
            && begun.elapsed() < UNDISTURBED
        {
            found = self.cache.try_get_with_by_ref(id, self.fetch_with_timeout(id)).await;
        }
        found.map(|found| found.client).map_err(|error: Arc<DocumentError>| (*error).clone())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_cache_time_is_bounded() {
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
    fn json_is_recognized_by_its_content_type() {
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
