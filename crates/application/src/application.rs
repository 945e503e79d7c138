//! The application: services, settings and the state that a process keeps between requests.

use std::sync::Arc;

use apps::changes::ChangePlanner;
use backend_data::{Engine as RowEngine, ProjectRef};
use connections::{connection_test::ConnectionTester, oauth_apps::OauthApps, outbound::AuthorizationServers};
use identity::{oauth::ClientDocumentFetcher, oidc::OidcProviders, passkeys::RelyingParty};
use kernel::{
    Caller, Clock, Context, Randomness, Timestamp, id::RequestId, mail::Delivery, token::Peppers,
    vault::Vault,
};
use projects::{Project, person_token::JwtVerifier};
use runs::{drafts::DraftRunner, engine::Engine, serve::AppServer};
use workspace::{Plan, join_domains::TxtResolver};

use crate::{
    Problem,
    attempt_limiter::AttemptLimiter,
    authentication::{AuthStateCache, CredentialCache, PersonTokenCache},
    feeds::StreamQuota,
    ports::Store,
    project_location::unshared,
    rate_limits::RateLimits,
    refused_calls::RefusedCallsBuffer,
    row_counts::{RowCount, RowCounts, count_tables},
    traffic::TrafficBuffer,
    workspace_shares::WorkspaceShares,
};

/// Implementations of the ports that the application uses.
pub struct Services {
    /// Store of the control plane.
    pub store: Arc<dyn Store>,
    /// Engine for the rows of backend projects.
    pub rows: Arc<RowEngine>,
    /// Engine that checks app code.
    pub engine: Arc<dyn Engine>,
    /// Server of requests to apps.
    pub app_server: Arc<dyn AppServer>,
    /// Runner of drafts.
    pub draft_runner: Arc<dyn DraftRunner>,
    /// Tests connections.
    pub connection_tester: Arc<dyn ConnectionTester>,
    /// Client of the servers that people allowed access at in a browser.
    pub authorization_servers: Arc<dyn AuthorizationServers>,
    /// Planner of changes from instructions.
    pub change_planner: Arc<dyn ChangePlanner>,
    /// OAuth apps of the operator.
    pub oauth_apps: Arc<OauthApps>,
    /// Fetcher of agent clients' metadata documents.
    pub client_documents: Arc<dyn ClientDocumentFetcher>,
    /// Relying party of passkeys; `None` if the site has no host name.
    pub relying_party: Option<Arc<dyn RelyingParty>>,
    /// OpenID Connect providers that people may sign in with.
    pub oidc_providers: Arc<dyn OidcProviders>,
    /// Verifier of person tokens' signatures.
    pub jwt: Arc<dyn JwtVerifier>,
    /// Resolver of TXT records.
    pub txt_resolver: Arc<dyn TxtResolver>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of randomness.
    pub random: Arc<dyn Randomness>,
    /// Keys of token digests.
    pub peppers: Peppers,
    /// Vault for secrets that must be readable again.
    pub vault: Vault,
}

/// Settings of this installation.
#[derive(Debug, Clone)]
pub struct Settings {
    /// URL of the API, without a trailing slash.
    pub public_url: String,
    /// The only origin whose pages may use the session cookie.
    pub console_origin: String,
    /// Domain under which each app has a host of its own, as in `{slug}.{apps_domain}`.
    pub apps_domain: Option<String>,
    /// Delivery of e-mail.
    pub delivery: Delivery,
    /// `true` if the development sign-in is enabled.
    pub dev_login: bool,
    /// `true` if requests count against rate limits.
    pub rate_limits: bool,
    /// Plan of a new workspace.
    pub default_plan: Plan,
    /// Shard for the rows of new projects.
    pub new_projects_shard: u16,
}

impl Settings {
    /// Returns `true` if browsers reach the API over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }
}

/// Everything that the API and the agent server call. A clone shares its state with the original.
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
    refused_calls: RefusedCallsBuffer,
    stream_quota: StreamQuota,
    row_counts: RowCounts,
    workspace_shares: WorkspaceShares,
}

impl Application {
    /// Creates an application with empty caches and counters.
    #[must_use]
    pub fn new(services: Services, settings: Settings) -> Self {
        let rate_limits = RateLimits::new(settings.rate_limits);
        let jwt = Arc::clone(&services.jwt);
        let row_counts = RowCounts::new(Arc::clone(&services.clock));
        Self(Arc::new(State {
            services,
            settings,
            rate_limits,
            attempt_limiter: AttemptLimiter::default(),
            credential_cache: CredentialCache::default(),
            person_tokens: PersonTokenCache::new(jwt),
            auth_states: AuthStateCache::default(),
            traffic: TrafficBuffer::default(),
            refused_calls: RefusedCallsBuffer::default(),
            stream_quota: StreamQuota::default(),
            row_counts,
            workspace_shares: WorkspaceShares::default(),
        }))
    }

    /// Returns the context of a request that arrives now.
    #[must_use]
    pub fn context(
        &self,
        caller: Caller,
        request_id: RequestId,
        client_ip: Option<std::net::IpAddr>,
    ) -> Context {
        self.context_at(self.now(), caller, request_id, client_ip)
    }

    /// Returns the context of a request whose time was read before; otherwise as [`Self::context`].
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

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.services.clock.now()
    }

    /// Returns the source of randomness.
    #[must_use]
    pub fn random(&self) -> &dyn Randomness {
        &*self.0.services.random
    }

    /// Returns the settings of this installation.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the store of the control plane, for reads. Writes go through [`Self::transaction`].
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.0.services.store
    }

    /// Returns the engine for the rows of backend projects.
    #[must_use]
    pub fn rows(&self) -> &RowEngine {
        &self.0.services.rows
    }

    /// Returns the number of rows of a backend project's tables, for a list.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn listed_row_count(
        &self,
        project: &Project,
        tables: Vec<String>,
    ) -> Result<Option<RowCount>, Problem> {
        let at = self.project_ref(project).await?;
        let share = self.0.workspace_shares.get(self.store(), project.workspace).await?;
        let counting = count_tables(Arc::clone(&self.0.services.rows), at, tables);
        Ok(self.0.row_counts.count(project.id, share, counting).await)
    }

    /// Returns the counts of rows of backend projects.
    #[must_use]
    pub fn row_counts(&self) -> &RowCounts {
        &self.0.row_counts
    }

    /// Returns the location of a project's rows, with the share of the person who created its workspace.
    ///
    /// # Errors
    /// [`Problem`] if the row engine does not accept the id, or the store fails.
    pub async fn project_ref(&self, project: &Project) -> Result<ProjectRef, Problem> {
        let share = self.0.workspace_shares.get(self.store(), project.workspace).await?;
        let share = backend_data::ShareId(share.uuid().as_u128());
        Ok(unshared(project.id, project.shard)?.with_share(share))
    }

    /// Returns the engine that checks app code.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.0.services.engine
    }

    /// Returns the server of requests to apps.
    #[must_use]
    pub fn app_server(&self) -> &dyn AppServer {
        &*self.0.services.app_server
    }

    /// Returns the runner of drafts.
    #[must_use]
    pub fn draft_runner(&self) -> &dyn DraftRunner {
        &*self.0.services.draft_runner
    }

    /// Returns the client of authorization servers.
    #[must_use]
    pub fn authorization_servers(&self) -> &dyn AuthorizationServers {
        &*self.0.services.authorization_servers
    }

    /// Returns the planner of changes from instructions.
    #[must_use]
    pub fn change_planner(&self) -> &dyn ChangePlanner {
        &*self.0.services.change_planner
    }

    /// Returns the OAuth apps of the operator.
    #[must_use]
    pub fn oauth_apps(&self) -> &OauthApps {
        &self.0.services.oauth_apps
    }

    /// Returns what tests connections.
    #[must_use]
    pub fn connection_tester(&self) -> &dyn ConnectionTester {
        &*self.0.services.connection_tester
    }

    /// Returns the fetcher of agent clients' metadata documents.
    #[must_use]
    pub fn client_documents(&self) -> &dyn ClientDocumentFetcher {
        &*self.0.services.client_documents
    }

    /// Returns the relying party of passkeys; `None` if the site has no host name.
    #[must_use]
    pub fn relying_party(&self) -> Option<&dyn RelyingParty> {
        self.0.services.relying_party.as_deref()
    }

    /// Returns the OpenID Connect providers that people may sign in with.
    #[must_use]
    pub fn oidc_providers(&self) -> &dyn OidcProviders {
        &*self.0.services.oidc_providers
    }

    /// Returns the resolver of TXT records.
    #[must_use]
    pub fn txt_resolver(&self) -> &dyn TxtResolver {
        &*self.0.services.txt_resolver
    }

    /// Returns the keys of token digests.
    #[must_use]
    pub fn peppers(&self) -> &Peppers {
        &self.0.services.peppers
    }

    /// Returns the vault for secrets that must be readable again.
    #[must_use]
    pub fn vault(&self) -> &Vault {
        &self.0.services.vault
    }

    /// Returns the rate limits.
    #[must_use]
    pub fn rate_limits(&self) -> &RateLimits {
        &self.0.rate_limits
    }

    /// Returns the limiter of wrong device codes.
    #[must_use]
    pub fn attempt_limiter(&self) -> &AttemptLimiter {
        &self.0.attempt_limiter
    }

    /// Returns the cache of recently used credentials.
    #[must_use]
    pub fn credential_cache(&self) -> &CredentialCache {
        &self.0.credential_cache
    }

    /// Returns the cache of verified person tokens.
    #[must_use]
    pub fn person_tokens(&self) -> &PersonTokenCache {
        &self.0.person_tokens
    }

    /// Returns the states of OpenID Connect sign-ins that are used up.
    #[must_use]
    pub fn auth_states(&self) -> &AuthStateCache {
        &self.0.auth_states
    }

    /// Returns the requests to the data API that are not written yet.
    #[must_use]
    pub fn traffic(&self) -> &TrafficBuffer {
        &self.0.traffic
    }

    /// Returns the counts of refused calls of webhooks.
    #[must_use]
    pub fn refused_calls(&self) -> &RefusedCallsBuffer {
        &self.0.refused_calls
    }

    /// Returns the quota of open streams.
    #[must_use]
    pub fn stream_quota(&self) -> &StreamQuota {
        &self.0.stream_quota
    }

    /// Removes the counters of callers that have been idle for a while.
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
