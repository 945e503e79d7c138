//! Sign-in with other issuers (OpenID Connect Core 1.0), over `openidconnect`.
//!
//! Each sign-in asks the issuer for its metadata and keys anew: there are few of them, and an issuer's keys change.

mod client;

use async_trait::async_trait;
use identity::oidc::{Claims, IssuerError, Issuers, Provider, Ties};
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope, TokenResponse as _,
    core::{CoreAuthenticationFlow, CoreClient, CoreProviderMetadata},
};
use secrecy::{ExposeSecret as _, SecretString};

use client::Http;
pub use client::TlsError;

/// An issuer as the operator set it up.
#[derive(Debug)]
pub struct Registration {
    /// What people and addresses call it.
    pub provider: Provider,
    /// The issuer's address, as it names itself.
    pub issuer: String,
    /// By which name the issuer knows us.
    pub client_id: String,
    /// What we prove ourselves with to the issuer.
    pub client_secret: Option<SecretString>,
}

/// The issuers that the operator set up.
pub struct OidcIssuers {
    providers: Vec<Provider>,
    registrations: Vec<Registration>,
    http: Http,
}

impl std::fmt::Debug for OidcIssuers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcIssuers").field("providers", &self.providers).finish_non_exhaustive()
    }
}

impl OidcIssuers {
    /// Speaks with these issuers when somebody wants to sign in. Nothing is asked before that, so that an issuer that is
    /// down stops no start.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(registrations: Vec<Registration>) -> Result<Self, TlsError> {
        let providers = registrations.iter().map(|known| known.provider.clone()).collect();
        Ok(Self { providers, registrations, http: Http::new()? })
    }

    fn registration(&self, provider: &str) -> Result<&Registration, IssuerError> {
        let known = self.registrations.iter().find(|known| known.provider.name == provider);
        known.ok_or_else(|| IssuerError::Refused("the provider is not set up".to_owned()))
    }

    async fn metadata(&self, registration: &Registration) -> Result<CoreProviderMetadata, IssuerError> {
        let issuer = IssuerUrl::new(registration.issuer.clone()).map_err(unreachable)?;
        CoreProviderMetadata::discover_async(issuer, &self.http).await.map_err(unreachable)
    }
}

fn unreachable(error: impl std::error::Error) -> IssuerError {
    IssuerError::Unreachable(chain(&error))
}

fn refused(error: impl std::error::Error) -> IssuerError {
    IssuerError::Refused(chain(&error))
}

/// An error and its causes; the library's own texts say little without them.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[async_trait]
impl Issuers for OidcIssuers {
    fn providers(&self) -> &[Provider] {
        &self.providers
    }

    async fn begin(&self, provider: &str, redirect_uri: &str, ties: &Ties) -> Result<String, IssuerError> {
        let registration = self.registration(provider)?;
        let metadata = self.metadata(registration).await?;
        let secret = registration.client_secret.as_ref();
        let client = CoreClient::from_provider_metadata(
            metadata,
            ClientId::new(registration.client_id.clone()),
            secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned())),
        )
        .set_redirect_uri(RedirectUrl::new(redirect_uri.to_owned()).map_err(refused)?);
        let verifier = PkceCodeVerifier::new(ties.verifier.expose_secret().to_owned());
        let (state, nonce) = (ties.state.expose_secret().to_owned(), ties.nonce.expose_secret().to_owned());
        let (url, _, _) = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                || CsrfToken::new(state),
                || Nonce::new(nonce),
            )
            .add_scope(Scope::new("email".to_owned()))
            .add_scope(Scope::new("profile".to_owned()))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(url.into())
    }

    async fn finish(
        &self,
        provider: &str,
        redirect_uri: &str,
        code: &SecretString,
        ties: &Ties,
    ) -> Result<Claims, IssuerError> {
        let registration = self.registration(provider)?;
        let metadata = self.metadata(registration).await?;
        let secret = registration.client_secret.as_ref();
        let client = CoreClient::from_provider_metadata(
            metadata,
            ClientId::new(registration.client_id.clone()),
            secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned())),
        )
        .set_redirect_uri(RedirectUrl::new(redirect_uri.to_owned()).map_err(refused)?);
        let response = client
            .exchange_code(AuthorizationCode::new(code.expose_secret().to_owned()))
            .map_err(refused)?
            .set_pkce_verifier(PkceCodeVerifier::new(ties.verifier.expose_secret().to_owned()))
            .request_async(&self.http)
            .await
            .map_err(|error| match error {
                // What OAuth has for "no" (RFC 6749 §5.2); all else is no answer.
                RequestTokenError::ServerResponse(_) => refused(error),
                _ => unreachable(error),
            })?;
        let word = response.id_token();
        let word = word.ok_or_else(|| IssuerError::Refused("there is no ID token".to_owned()))?;
        // Signature, issuer, audience, expiry and nonce (OpenID Connect Core 1.0 §3.1.3.7).
        let nonce = Nonce::new(ties.nonce.expose_secret().to_owned());
        let claims = word.claims(&client.id_token_verifier(), &nonce).map_err(refused)?;
        let name = claims.name().and_then(|names| names.get(None)).map(|name| name.to_string());
        Ok(Claims {
            issuer: claims.issuer().to_string(),
            subject: claims.subject().to_string(),
            email: claims.email().map(|email| email.to_string()),
            email_verified: claims.email_verified().into(),
            name,
        })
    }
}
