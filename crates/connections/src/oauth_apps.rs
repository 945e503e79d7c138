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
    /// Revocation endpoint (RFC 7009), if the service has one.
    pub revocation_url: Option<Url>,
    /// Identifier of the authorization server, if its responses always name it (RFC 9207).
    pub issuer: Option<String>,
}

impl OauthApp {
    /// Returns true if a response comes from the authorization server that was asked, as far as its `iss` tells (RFC 9207,
    /// section 2.4). A server whose identifier is not known has the origin of its authorization endpoint.
    #[must_use]
    pub fn accepts_issuer(&self, named: Option<&str>) -> bool {
        match (named, &self.issuer) {
            (named, Some(issuer)) => named == Some(issuer.as_str()),
            (None, None) => true,
            (Some(named), None) => {
                Url::parse(named).is_ok_and(|named| named.origin() == self.authorize_url.origin())
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use crate::testing::oauth_apps;

    #[test]
    fn a_response_of_another_server_is_not_accepted() {
        let mut app = oauth_apps().get("gmail").unwrap().clone();
        for (named, accepted) in [
            (None, true),
            (Some("https://auth.example"), true),
            (Some("https://auth.example/tenant"), true),
            (Some("https://auth.example:444"), false),
            (Some("http://auth.example"), false),
            (Some("https://auth.example.evil.test"), false),
            (Some("https://evil.test/https://auth.example"), false),
            (Some("null"), false),
            (Some(""), false),
        ] {
            assert_eq!(app.accepts_issuer(named), accepted, "{named:?}");
        }
        app.issuer = Some("https://auth.example/one".to_owned());
        for (named, accepted) in [
            (Some("https://auth.example/one"), true),
            (Some("https://auth.example/one/"), false),
            (Some("https://auth.example/two"), false),
            (Some("https://auth.example"), false),
            (None, false),
        ] {
            assert_eq!(app.accepts_issuer(named), accepted, "{named:?}");
        }
    }
}
