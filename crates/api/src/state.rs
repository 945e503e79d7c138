//! What every handler has at hand.

use std::{net::IpAddr, ops::Deref, path::PathBuf, sync::Arc};

use backend_data::Engine as Rows;
use identity::{oauth::ClientDocuments, oidc::Issuers, passkeys::Authenticators};
use ipnet::IpNet;
use kernel::{Clock, Randomness, mail::Delivery, token::Peppers, vault::Vault};
use runs::{engine::Engine, queue::SpendingCap, serve::AppServer};
use workspace::{Plan, join_domains::TxtRecords};

use crate::{
    agents::Agents,
    credentials::Credentials,
    feeds::Places,
    guesses::Guesses,
    limits::Limits,
    ports::Store,
    routes::{Persons, SpentTies},
};

/// The API's state. A clone is the same state: every extractor and every layer takes one.
#[derive(Clone)]
pub struct Api(Arc<ApiState>);

/// What [`Api`] gives access to.
pub struct ApiState {
    pub(crate) services: Services,
    pub(crate) config: Config,
    pub(crate) limits: Limits,
    pub(crate) credentials: Credentials,
    pub(crate) persons: Persons,
    pub(crate) traffic: crate::traffic::Traffic,
    pub(crate) agents: Agents,
    pub(crate) guesses: Guesses,
    pub(crate) spent_ties: SpentTies,
    /// Who follows a workspace.
    pub(crate) places: Places,
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
    pub cap: Arc<dyn SpendingCap>,
    /// What answers requests to apps.
    pub apps: Arc<dyn AppServer>,
    /// Where agent clients' documents come from.
    pub documents: Arc<dyn ClientDocuments>,
    /// What checks passkeys; none on a site without a host name.
    pub authenticators: Option<Arc<dyn Authenticators>>,
    /// The other issuers people may sign in with.
    pub issuers: Arc<dyn Issuers>,
    /// What stands in DNS.
    pub dns: Arc<dyn TxtRecords>,
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
    pub scratch: PathBuf,
}

impl Config {
    /// Whether browsers reach the API over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// Whether an address is a proxy of ours.
    #[must_use]
    pub fn trusts(&self, address: IpAddr) -> bool {
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
            credentials: Credentials::default(),
            persons: Persons::default(),
            traffic: crate::traffic::Traffic::default(),
            agents: Agents::default(),
            guesses: Guesses::default(),
            spent_ties: SpentTies::default(),
            places: Places::default(),
        }))
    }

    /// The control plane's store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.services.store
    }

    /// Tokens and keys used since the last time this was asked, for whoever notes it in the store.
    #[must_use]
    pub fn drain_uses(&self) -> crate::credentials::Uses {
        self.credentials.drain_uses()
    }

    /// Forgets counters of callers who have been gone for a while.
    pub fn tidy(&self) {
        self.limits.tidy();
        self.guesses.tidy(self.services.clock.now());
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").field("config", &self.config).finish_non_exhaustive()
    }
}
