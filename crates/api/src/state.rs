//! The state of every handler.

use std::{net::IpAddr, ops::Deref, path::PathBuf, sync::Arc};

use application::Application;
use ipnet::IpNet;

/// How the server speaks HTTP.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// The directory of large bodies while they are read.
    pub scratch_dir: PathBuf,
}

impl HttpConfig {
    /// `true` for an address of a trusted proxy.
    pub(crate) fn is_trusted_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }
}

/// The application behind HTTP. A clone shares its state with the original.
///
/// It dereferences to the [`Application`], which is all that most handlers use.
#[derive(Clone)]
pub struct Api {
    application: Application,
    http: Arc<HttpConfig>,
}

impl Api {
    /// The API of an application.
    #[must_use]
    pub fn new(application: Application, http: HttpConfig) -> Self {
        Self { application, http: Arc::new(http) }
    }

    /// How the server speaks HTTP.
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
