//! Sign-in with another issuer (OpenID Connect Core 1.0, authorization code with PKCE).

mod sign_in;
mod trusted_email;

use async_trait::async_trait;
use secrecy::SecretString;

pub use sign_in::oidc_sign_in;
pub use trusted_email::trusted_email;

/// An issuer that the operator has set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name in addresses: lower-case letters, digits and dashes.
    pub name: String,
    /// What people are shown.
    pub title: String,
    /// Domains whose addresses are accepted when the issuer does not say whether they are verified.
    pub trusted_domains: Vec<String>,
}

/// What ties the answer of an issuer to the browser that asked. It stays in that browser, sealed.
#[derive(Debug)]
pub struct AuthRequestState {
    /// Comes back in the answer's address.
    pub state: SecretString,
    /// Comes back in the issuer's signed word.
    pub nonce: SecretString,
    /// Proves to the issuer that it is us who asked (RFC 7636).
    pub verifier: SecretString,
}

/// What an issuer sends a browser back with.
#[derive(Debug)]
pub struct CallbackParams {
    /// What the issuer's word is exchanged for.
    pub code: SecretString,
    /// Who the issuer says it is (RFC 9207).
    pub issuer: Option<String>,
}

/// The claim `email_verified` (OpenID Connect Core 1.0 §5.1). An issuer that leaves it out says something else than one
/// that denies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmailVerified {
    /// `true`: the issuer has checked that the address is the person's.
    Yes,
    /// `false`: it has not. Whoever signs in may have made the address up.
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

/// What an issuer says of a person, its signature checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdTokenClaims {
    /// The issuer.
    pub issuer: String,
    /// Its name for the person, which stays.
    pub subject: String,
    /// Their address.
    pub email: Option<String>,
    /// What the issuer says of whether the address is theirs.
    pub email_verified: EmailVerified,
    /// Their name.
    pub name: Option<String>,
}

/// Why an issuer was of no help. The text may go into the log.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// It cannot be reached, or does not speak as it should.
    #[error("the issuer does not answer as it should: {0}")]
    Unreachable(String),
    /// What came back does not hold.
    #[error("the issuer's answer was refused: {0}")]
    Refused(String),
}

/// The issuers the operator has set up.
#[async_trait]
pub trait OidcProviders: Send + Sync {
    /// All of them, in the operator's order.
    fn providers(&self) -> &[Provider];

    /// Where the browser goes to sign in at an issuer.
    ///
    /// # Errors
    /// When the issuer cannot be asked how.
    async fn authorization_url(
        &self,
        provider: &str,
        redirect_uri: &str,
        request_state: &AuthRequestState,
    ) -> Result<String, OidcError>;

    /// Exchanges what the browser came back with for the issuer's word.
    ///
    /// # Errors
    /// When the issuer refuses, or its word does not hold.
    async fn exchange_code(
        &self,
        provider: &str,
        redirect_uri: &str,
        callback: &CallbackParams,
        request_state: &AuthRequestState,
    ) -> Result<IdTokenClaims, OidcError>;
}
