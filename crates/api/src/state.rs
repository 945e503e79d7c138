//! State that handlers share.

use std::{net::IpAddr, ops::Deref, path::PathBuf, sync::Arc};

use application::Application;
use ipnet::IpNet;

/// Files that a document of the web console loads, as paths of this server.
#[derive(Debug, Clone)]
pub struct ConsoleEntry {
    /// The script that runs before the first paint.
    pub head: String,
    /// The style sheet.
    pub style: String,
    /// The module that starts the console.
    pub script: String,
    /// Modules that it imports at once.
    pub preloads: Vec<String>,
}

/// Settings of the HTTP server.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Directory of temporary files for large request bodies.
    pub scratch_dir: PathBuf,
    /// The web console, unless the server was built without it.
    pub console: Option<ConsoleEntry>,
}

impl HttpConfig {
    /// Returns `true` if the address is that of a trusted proxy.
    pub(crate) fn is_trusted_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }
}

/// The application and the settings of the HTTP server. A clone shares its state with the original.
///
/// It dereferences to the [`Application`], which is all that most handlers need.
#[derive(Clone)]
pub struct Api {
    application: Application,
    http: Arc<HttpConfig>,
}

impl Api {
    /// Creates the state for an application.
    #[must_use]
    pub fn new(application: Application, http: HttpConfig) -> Self {
        Self { application, http: Arc::new(http) }
    }

    /// Returns the settings of the HTTP server.
    pub(crate) fn http(&self) -> &HttpConfig {
        &self.http
    }
}

impl Deref for Api {
    type Target = Application;

    fn deref(&self) -> &Application {
        &self.application
    }
}
