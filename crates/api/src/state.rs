//! What every handler has at hand.

use std::{net::IpAddr, ops::Deref, path::PathBuf, sync::Arc};

use backend_data::Engine as Rows;
use identity::{oauth::ClientDocumentFetcher, oidc::OidcProviders, passkeys::RelyingParty};
use ipnet::IpNet;
use kernel::{Clock, Randomness, mail::Delivery, token::Peppers, vault::Vault};
use runs::{engine::Engine, queue::SpendingCap, serve::AppServer};
use workspace::{Plan, join_domains::TxtResolver};

use crate::{
    agent_auth::GrantUsage,
    attempt_limiter::AttemptLimiter,
    credentials::CredentialCache,
    feeds::StreamQuota,
    limits::Limits,
    ports::Store,
    routes::{PersonTokenCache, SpentAuthStates},
};

/// The API's state. A clone is the same state: every extractor and every layer takes one.
#[derive(Clone)]
pub struct Api(Arc<ApiState>);

/// What [`Api`] gives access to.
pub struct ApiState {
    pub(crate) services: Services,
    pub(crate) config: Config,
    pub(crate) limits: Limits,
    pub(crate) credential_cache: CredentialCache,
    pub(crate) person_tokens: PersonTokenCache,
    pub(crate) traffic: crate::traffic::TrafficBuffer,
    pub(crate) grant_usage: GrantUsage,
    pub(crate) attempt_limiter: AttemptLimiter,
    pub(crate) spent_auth_states: SpentAuthStates,
    /// Who follows a workspace.
    pub(crate) stream_quota: StreamQuota,
}

impl Deref for Api {
    type Target = ApiState;

    fn deref(&self) -> &ApiState {
        &self.0
    }
}

/// What the API is built on.
pub struct Services {
    /// The control plane's store.
    pub store: Arc<dyn Store>,
    /// The rows of backend projects.
    pub rows: Arc<Rows>,
    /// What checks app code.
    pub engine: Arc<dyn Engine>,
    /// Whether a workspace has spent so much that replays wait.
    pub spending_cap: Arc<dyn SpendingCap>,
    /// What answers requests to apps.
    pub apps: Arc<dyn AppServer>,
    /// Where agent clients' documents come from.
    pub client_documents: Arc<dyn ClientDocumentFetcher>,
    /// What checks passkeys; none on a site without a host name.
    pub authenticators: Option<Arc<dyn RelyingParty>>,
    /// The other issuers people may sign in with.
    pub issuers: Arc<dyn OidcProviders>,
    /// What stands in DNS.
    pub dns: Arc<dyn TxtResolver>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Randomness>,
    /// What token digests are made with.
    pub peppers: Peppers,
    /// What seals secrets that must be read again.
    pub vault: Vault,
}

/// How the API is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the API is reached, without a slash at the end.
    pub public_url: String,
    /// The only origin whose pages may use the session cookie.
    pub console_origin: String,
    /// Under which domain each app has a host of its own, as in `{slug}.{apps_domain}`.
    pub apps_domain: Option<String>,
    /// Where mail goes.
    pub delivery: Delivery,
    /// Whether the development sign-in is on.
    pub dev_login: bool,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Whether requests are counted.
    pub rate_limits: bool,
    /// What a new workspace may use.
    pub default_plan: Plan,
    /// Which store the rows of new projects are in.
    pub new_projects_shard: u16,
    /// Where large bodies are kept while they are read.
    pub scratch_dir: PathBuf,
}

impl Config {
    /// Whether browsers reach the API over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// Whether an address is a proxy of ours.
    #[must_use]
    pub fn is_trusted_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }
}

impl Api {
    /// The API over these services.
    #[must_use]
    pub fn new(services: Services, config: Config) -> Self {
        let limits = Limits::new(config.rate_limits);
        Self(Arc::new(ApiState {
            services,
            config,
            limits,
            credential_cache: CredentialCache::default(),
            person_tokens: PersonTokenCache::default(),
            traffic: crate::traffic::TrafficBuffer::default(),
            grant_usage: GrantUsage::default(),
            attempt_limiter: AttemptLimiter::default(),
            spent_auth_states: SpentAuthStates::default(),
            stream_quota: StreamQuota::default(),
        }))
    }

    /// The control plane's store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.services.store
    }

    /// Tokens and keys used since the last time this was asked, for whoever notes it in the store.
    #[must_use]
    pub fn take_last_used(&self) -> crate::credentials::LastUsed {
        self.credential_cache.take_last_used()
    }

    /// Forgets counters of callers who have been gone for a while.
    pub fn evict_idle(&self) {
        self.limits.evict_idle();
        self.attempt_limiter.evict_expired(self.services.clock.now());
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").field("config", &self.config).finish_non_exhaustive()
    }
}
