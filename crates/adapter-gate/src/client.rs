//! HTTP clients, one for each host and checked address, each with its own pool of connections.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use connections::EgressPermit;
use kernel::id::ConnectionId;
use lru::LruCache;
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::limits::EgressLimits;

/// Maximum number of cached clients.
const MAX_CLIENTS: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// Connections of one client that are kept for later requests. With fewer than there are requests at once, each request
/// above them opens and closes one of its own.
const MAX_IDLE_CONNECTIONS: usize = 32;

/// Connections are reused only for the same host, port and address, and the same credential.
type ClientKey = (String, u16, IpAddr, Option<ConnectionId>);

pub(crate) struct ClientCache {
    tls: ClientConfig,
    connect_timeout: Duration,
    clients: Mutex<LruCache<ClientKey, reqwest::Client>>,
}

impl ClientCache {
    pub(crate) fn new(limits: &EgressLimits) -> io::Result<Self> {
        Ok(Self {
            tls: tls_config()?,
            connect_timeout: limits.connect_timeout,
            clients: Mutex::new(LruCache::new(MAX_CLIENTS)),
        })
    }

    /// Returns the client that connects to `address`, and nothing else, for the permit's host.
    pub(crate) fn get_or_build(
        &self,
        permit: &EgressPermit,
        address: IpAddr,
    ) -> Result<reqwest::Client, reqwest::Error> {
        let host = permit.host().as_str();
        let key = (host.to_owned(), permit.port(), address, permit.connection());
        let mut kept = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = kept.get(&key) {
            return Ok(client.clone());
        }
        let target = SocketAddr::new(address, permit.port());
        let client = build_pinned_client(&self.tls, host, target, self.connect_timeout)?;
        kept.put(key, client.clone());
        Ok(client)
    }
}

/// Creates a client that connects to `target`, and nothing else, for `host`.
pub(crate) fn build_pinned_client(
    tls: &ClientConfig,
    host: &str,
    target: SocketAddr,
    connect: Duration,
) -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        // Whoever asks for a coding decodes it; a response with a secret in it must not arrive in one that nobody reads.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        // The caller must decide on a retry: the request may not be idempotent.
        .retry(reqwest::retry::never())
        .connect_timeout(connect)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .pool_idle_timeout(Duration::from_secs(30))
        .user_agent(concat!("Qala/", env!("CARGO_PKG_VERSION")))
        .resolve_to_addrs(host, &[target])
        // The URL may spell the name with a dot at its end.
        .resolve_to_addrs(&format!("{host}."), &[target])
        // Any other name fails to resolve.
        .dns_resolver(Arc::new(DenyingResolver))
        .build()
}

struct DenyingResolver;

impl reqwest::dns::Resolve for DenyingResolver {
    fn resolve(&self, _: reqwest::dns::Name) -> reqwest::dns::Resolving {
        Box::pin(async { Err("only checked addresses are connected to".into()) })
    }
}

/// Returns a configuration with the machine's certificate authorities, which may include a company's own; with
/// Mozilla's if the machine has none.
pub(crate) fn tls_config() -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(native.certs);
    if added == 0 {
        tracing::info!("no certificate authorities on this machine; using Mozilla's");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}
