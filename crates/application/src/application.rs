//! The application: services, settings and the state that one process keeps between requests.

use std::sync::Arc;

use backend_data::Engine as RowEngine;
use identity::{oauth::ClientDocumentFetcher, oidc::OidcProviders, passkeys::RelyingParty};
use kernel::{
    Caller, Clock, Context, Randomness, Timestamp, id::RequestId, mail::Delivery, token::Peppers,
    vault::Vault,
};
use runs::{engine::Engine, queue::SpendingCap, serve::AppServer};
use workspace::{Plan, join_domains::TxtResolver};

use crate::{
    attempt_limiter::AttemptLimiter,
    authentication::{AuthStateCache, CredentialCache, PersonTokenCache},
    feeds::StreamQuota,
    ports::Store,
    rate_limits::RateLimits,
    traffic::TrafficBuffer,
};

/// The ports that the application is built on.
pub struct Services {
    /// The control plane's store.
    pub store: Arc<dyn Store>,
    /// The rows of backend projects.
    pub rows: Arc<RowEngine>,
    /// The engine that checks app code.
    pub engine: Arc<dyn Engine>,
    /// The spending cap, which holds replays back once it is reached.
    pub spending_cap: Arc<dyn SpendingCap>,
    /// The server of requests to apps.
    pub app_server: Arc<dyn AppServer>,
    /// The fetcher of agent clients' metadata documents.
    pub client_documents: Arc<dyn ClientDocumentFetcher>,
    /// The relying party of passkeys; `None` on a site without a host name.
    pub relying_party: Option<Arc<dyn RelyingParty>>,
    /// The other issuers that people may sign in with.
    pub oidc_providers: Arc<dyn OidcProviders>,
    /// The resolver of TXT records.
    pub txt_resolver: Arc<dyn TxtResolver>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Randomness>,
    /// The keys of token digests.
    pub peppers: Peppers,
    /// The seal of secrets that must be read again.
    pub vault: Vault,
}

/// The settings of this installation.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The URL of the API, without a trailing slash.
    pub public_url: String,
    /// The only origin whose pages may use the session cookie.
    pub console_origin: String,
    /// The domain under which each app has a host of its own, as in `{slug}.{apps_domain}`.
    pub apps_domain: Option<String>,
    /// The way e-mail is delivered.
    pub delivery: Delivery,
    /// `true` when the development sign-in is on.
    pub dev_login: bool,
    /// `true` when requests are counted against rate limits.
    pub rate_limits: bool,
    /// The plan of a new workspace.
    pub default_plan: Plan,
    /// The shard that stores the rows of new projects.
    pub new_projects_shard: u16,
}

impl Settings {
    /// `true` when browsers reach the API over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }
}

/// Everything that a surface calls. A clone shares its state with the original.
#[derive(Clone)]
pub struct Application(Arc<State>);

struct State {
    services: Services,
    settings: Settings,
    rate_limits: RateLimits,
    attempt_limiter: AttemptLimiter,
    credential_cache: CredentialCache,
    person_tokens: PersonTokenCache,
    auth_states: AuthStateCache,
    traffic: TrafficBuffer,
    stream_quota: StreamQuota,
}

impl Application {
    /// The application over these services.
    #[must_use]
    pub fn new(services: Services, settings: Settings) -> Self {
        let rate_limits = RateLimits::new(settings.rate_limits);
        Self(Arc::new(State {
            services,
            settings,
            rate_limits,
            attempt_limiter: AttemptLimiter::default(),
            credential_cache: CredentialCache::default(),
            person_tokens: PersonTokenCache::default(),
            auth_states: AuthStateCache::default(),
            traffic: TrafficBuffer::default(),
            stream_quota: StreamQuota::default(),
        }))
    }

    /// The context of a request that comes in now.
    #[must_use]
    pub fn context(
        &self,
        caller: Caller,
        request_id: RequestId,
        client_ip: Option<std::net::IpAddr>,
    ) -> Context {
        self.context_at(self.now(), caller, request_id, client_ip)
    }

    /// As [`Self::context`], of a request whose time was read before.
    #[must_use]
    pub fn context_at(
        &self,
        now: Timestamp,
        caller: Caller,
        request_id: RequestId,
        client_ip: Option<std::net::IpAddr>,
    ) -> Context {
        Context::new(caller, now, request_id, client_ip, Arc::clone(&self.0.services.random))
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.services.clock.now()
    }

    /// Randomness.
    #[must_use]
    pub fn random(&self) -> &dyn Randomness {
        &*self.0.services.random
    }

    /// The settings of this installation.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The control plane's store, for reads. Writes go through [`Self::transaction`].
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.0.services.store
    }

    /// The rows of backend projects.
    #[must_use]
    pub fn rows(&self) -> &RowEngine {
        &self.0.services.rows
    }

    /// The engine that checks app code.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.0.services.engine
    }

    /// The server of requests to apps.
    #[must_use]
    pub fn app_server(&self) -> &dyn AppServer {
        &*self.0.services.app_server
    }

    /// The spending cap.
    #[must_use]
    pub fn spending_cap(&self) -> &dyn SpendingCap {
        &*self.0.services.spending_cap
    }

    /// The fetcher of agent clients' metadata documents.
    #[must_use]
    pub fn client_documents(&self) -> &dyn ClientDocumentFetcher {
        &*self.0.services.client_documents
    }

    /// The relying party of passkeys; `None` on a site without a host name.
    #[must_use]
    pub fn relying_party(&self) -> Option<&dyn RelyingParty> {
        self.0.services.relying_party.as_deref()
    }

    /// The other issuers that people may sign in with.
    #[must_use]
    pub fn oidc_providers(&self) -> &dyn OidcProviders {
        &*self.0.services.oidc_providers
    }

    /// The resolver of TXT records.
    #[must_use]
    pub fn txt_resolver(&self) -> &dyn TxtResolver {
        &*self.0.services.txt_resolver
    }

    /// The keys of token digests.
    #[must_use]
    pub fn peppers(&self) -> &Peppers {
        &self.0.services.peppers
    }

    /// The seal of secrets that must be read again.
    #[must_use]
    pub fn vault(&self) -> &Vault {
        &self.0.services.vault
    }

    /// The rate limits of callers.
    #[must_use]
    pub fn rate_limits(&self) -> &RateLimits {
        &self.0.rate_limits
    }

    /// The limiter of wrong device codes.
    #[must_use]
    pub fn attempt_limiter(&self) -> &AttemptLimiter {
        &self.0.attempt_limiter
    }

    /// Credentials that were looked up lately, and when each was last used.
    #[must_use]
    pub fn credential_cache(&self) -> &CredentialCache {
        &self.0.credential_cache
    }

    /// Person tokens that were verified lately.
    #[must_use]
    pub fn person_tokens(&self) -> &PersonTokenCache {
        &self.0.person_tokens
    }

    /// Sign-ins with other issuers that were used up lately.
    #[must_use]
    pub fn auth_states(&self) -> &AuthStateCache {
        &self.0.auth_states
    }

    /// Requests to the data API that are not written yet.
    #[must_use]
    pub fn traffic(&self) -> &TrafficBuffer {
        &self.0.traffic
    }

    /// Open streams of this process.
    #[must_use]
    pub fn stream_quota(&self) -> &StreamQuota {
        &self.0.stream_quota
    }

    /// Drops the counters of callers that have been idle for a while.
    pub fn evict_idle(&self) {
        self.0.rate_limits.evict_idle();
        self.0.attempt_limiter.evict_expired(self.now());
    }
}

impl std::fmt::Debug for Application {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Application").field("settings", self.settings()).finish_non_exhaustive()
    }
}
