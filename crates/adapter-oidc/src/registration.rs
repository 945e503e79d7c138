//! An issuer as the operator configures it.

use identity::oidc::Provider;
use secrecy::SecretString;

/// The way in which an issuer sends its response to the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseMode {
    /// In the query of a redirect, which is the default of the authorization code flow (OAuth 2.0 Multiple Response Type
    /// Encoding Practices, section 2.1).
    Query,
    /// In a form that the browser posts (OAuth 2.0 Form Post Response Mode).
    FormPost,
}

kernel::names! { ResponseMode { Query = "query", FormPost = "form_post" } }

/// An issuer that the operator configured.
#[derive(Debug)]
pub struct Registration {
    /// Name and title of the issuer.
    pub provider: Provider,
    /// Issuer identifier, exactly as in the issuer's metadata.
    pub issuer: String,
    /// Client id at the issuer.
    pub client_id: String,
    /// Client secret at the issuer; `None` for a public client.
    pub client_secret: Option<SecretString>,
    /// Response mode to ask for; `None` to choose it by the issuer and its metadata.
    pub response_mode: Option<ResponseMode>,
    /// Scopes to request beside `openid`; `None` for `email` and `profile`, without those that the metadata's list lacks.
    pub scopes: Option<Vec<String>>,
}
