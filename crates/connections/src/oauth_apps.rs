//! The OAuth apps that the operator has registered with services: by them people allow access in a browser.

use std::collections::BTreeMap;

use secrecy::SecretString;
use url::Url;

use crate::{
    auth::{AuthInput, ClientAuthStyle},
    catalogue::{CatalogueEntry, EntryOauth, find_connector},
};

/// An OAuth app of the operator, with the endpoints of its service.
#[derive(Debug, Clone)]
pub struct OauthApp {
    /// Id of the client.
    pub client_id: String,
    /// Secret of the client.
    pub client_secret: SecretString,
    /// How the client proves itself to the token endpoint.
    pub style: ClientAuthStyle,
    /// Authorization endpoint.
    pub authorize_url: Url,
    /// Token endpoint.
    pub token_url: Url,
}

/// The OAuth apps by connector.
#[derive(Debug, Default)]
pub struct OauthApps(BTreeMap<String, OauthApp>);

impl OauthApps {
    /// Returns the app of a connector.
    #[must_use]
    pub fn get(&self, connector: &str) -> Option<&OauthApp> {
        self.0.get(connector)
    }

    /// Returns the connectors that have an app, in order.
    pub fn connectors(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl FromIterator<(String, OauthApp)> for OauthApps {
    fn from_iter<T: IntoIterator<Item = (String, OauthApp)>>(apps: T) -> Self {
        Self(apps.into_iter().collect())
    }
}

/// Returns the catalogue entry of a connector that is connected by an authorization in a browser, with its endpoints.
#[must_use]
pub fn find_oauth_connector(connector: &str) -> Option<(&'static CatalogueEntry, &'static EntryOauth)> {
    let entry = find_connector(connector)?;
    let http = entry.http.as_ref()?;
    let oauth = entry.oauth.as_ref()?;
    matches!(http.auth, AuthInput::AuthorizationCode {}).then_some((entry, oauth))
}
