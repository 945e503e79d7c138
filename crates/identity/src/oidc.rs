//! Sign-in through an OpenID Connect issuer (OpenID Connect Core 1.0, authorization code flow with PKCE).

mod authorization_error;
mod sign_in;
mod trusted_email;

use async_trait::async_trait;
use kernel::Timestamp;
use secrecy::SecretString;

pub use authorization_error::AuthorizationError;
pub use sign_in::oidc_sign_in;
pub use trusted_email::trusted_email;

/// An issuer that the operator has configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Name in URLs: lower-case letters, digits and hyphens.
    pub name: String,
    /// Name shown to people.
    pub title: String,
    /// Domains whose e-mail addresses are accepted if the issuer omits the claim `email_verified`.
    pub trusted_domains: Vec<String>,
}

/// Values that bind an issuer's response to the browser that started the request. The browser keeps them, sealed.
#[derive(Debug)]
pub struct AuthRequestState {
    /// Parameter `state`, which the redirect back repeats.
    pub state: SecretString,
    /// Claim `nonce`, which the ID token repeats.
    pub nonce: SecretString,
    /// PKCE code verifier, which proves that the code's exchange comes from who started the request (RFC 7636).
    pub verifier: SecretString,
}

/// Query parameters with which an issuer redirects a browser back.
#[derive(Debug)]
pub struct CallbackParams {
    /// Authorization code, which is exchanged for the ID token.
    pub code: SecretString,
    /// Parameter `iss` (RFC 9207).
    pub issuer: Option<String>,
}

/// The claim `email_verified` (OpenID Connect Core 1.0, section 5.1). An absent claim differs from `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmailVerified {
    /// `true`: the issuer has verified that the person owns the address.
    Yes,
    /// `false`: the issuer has not verified the address; it may be made up.
    No,
    /// The claim is absent.
    Absent,
}

impl From<Option<bool>> for EmailVerified {
    fn from(claim: Option<bool>) -> Self {
        match claim {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => Self::Absent,
        }
    }
}

/// Claims of an ID token whose signature has been verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdTokenClaims {
    /// Claim `iss`: the issuer.
    pub issuer: String,
    /// Claim `sub`: the issuer's permanent identifier of the person.
    pub subject: String,
    /// Claim `email`: the person's e-mail address.
    pub email: Option<String>,
    /// Claim `email_verified`.
    pub email_verified: EmailVerified,
    /// Claim `name`: the person's display name.
    pub name: Option<String>,
}

/// Failure of a request to an issuer. The text may be logged.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// The issuer does not respond, or not at the moment.
    #[error("the issuer does not respond: {0}")]
    Unreachable(String),
    /// The issuer responds, and the response is none of OpenID Connect or lacks something that is needed: the issuer, or the
    /// provider that the operator configured, has to be corrected. The text names the document and may be shown.
    #[error("the issuer's response is invalid: {0}")]
    InvalidResponse(String),
    /// The response or the ID token failed verification.
    #[error("the issuer's response was rejected: {0}")]
    Refused(String),
}

/// The issuers that the operator has configured.
#[async_trait]
pub trait OidcProviders: Send + Sync {
    /// Returns the issuers in the operator's order.
    fn providers(&self) -> &[Provider];

    /// Returns the URL at which a browser signs in at an issuer.
    ///
    /// # Errors
    /// [`OidcError`] if the issuer's configuration cannot be fetched.
    async fn authorization_url(
        &self,
        provider: &str,
        redirect_uri: &str,
        request_state: &AuthRequestState,
    ) -> Result<String, OidcError>;

    /// Exchanges the authorization code for an ID token and returns its verified claims.
    ///
    /// # Errors
    /// [`OidcError`] if the issuer refuses the code, or its response fails verification.
    async fn exchange_code(
        &self,
        provider: &str,
        redirect_uri: &str,
        callback: &CallbackParams,
        request_state: &AuthRequestState,
        now: Timestamp,
    ) -> Result<IdTokenClaims, OidcError>;
}
