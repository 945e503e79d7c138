//! Sign-in with other issuers (OpenID Connect Core 1.0), with `openidconnect`.
//!
//! Each sign-in fetches the issuer's metadata and keys: sign-ins are few, and an issuer's keys change.

mod client;

use async_trait::async_trait;
use identity::oidc::{AuthRequestState, CallbackParams, IdTokenClaims, OidcError, OidcProviders, Provider};
use openidconnect::{
    AdditionalProviderMetadata, AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce,
    PkceCodeChallenge, PkceCodeVerifier, ProviderMetadata, RedirectUrl, RequestTokenError, Scope,
    TokenResponse as _,
    core::{
        CoreAuthDisplay, CoreAuthenticationFlow, CoreClaimName, CoreClaimType, CoreClient,
        CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm,
        CoreJweKeyManagementAlgorithm, CoreResponseMode, CoreResponseType, CoreSubjectIdentifierType,
    },
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use client::IssuerHttpClient;
pub use client::TlsError;

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
}

/// Members of an issuer's metadata besides those that the library reads.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AdditionalMetadata {
    /// Support for the `iss` parameter in authorization responses (RFC 9207, section 3).
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl AdditionalProviderMetadata for AdditionalMetadata {}

type Metadata = ProviderMetadata<
    AdditionalMetadata,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// The issuers that the operator configured.
pub struct OidcIssuers {
    providers: Vec<Provider>,
    registrations: Vec<Registration>,
    http: IssuerHttpClient,
}

impl std::fmt::Debug for OidcIssuers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcIssuers").field("providers", &self.providers).finish_non_exhaustive()
    }
}

impl OidcIssuers {
    /// Creates a client of these issuers. Nothing is fetched before somebody signs in, so that an issuer that is down
    /// does not prevent a start.
    ///
    /// # Errors
    /// Fails if TLS cannot be set up.
    pub fn new(registrations: Vec<Registration>) -> Result<Self, TlsError> {
        let providers = registrations.iter().map(|registration| registration.provider.clone()).collect();
        Ok(Self { providers, registrations, http: IssuerHttpClient::new()? })
    }

    fn get_registration(&self, provider: &str) -> Result<&Registration, OidcError> {
        let found = self.registrations.iter().find(|registration| registration.provider.name == provider);
        found.ok_or_else(|| OidcError::Refused("the provider is not configured".to_owned()))
    }

    async fn discover_metadata(&self, registration: &Registration) -> Result<Metadata, OidcError> {
        let issuer = IssuerUrl::new(registration.issuer.clone()).map_err(unreachable)?;
        Metadata::discover_async(issuer, &self.http).await.map_err(unreachable)
    }
}

fn unreachable(error: impl std::error::Error) -> OidcError {
    OidcError::Unreachable(error_chain(&error))
}

fn refused(error: impl std::error::Error) -> OidcError {
    OidcError::Refused(error_chain(&error))
}

/// Distinguishes a token response with unusable tokens from one without any.
fn has_tokens(body: &[u8]) -> bool {
    let response: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(body).ok();
    response.is_some_and(|members| members.contains_key("id_token") || members.contains_key("access_token"))
}

/// Joins an error and its causes, without which the library's messages say little.
fn error_chain(error: &dyn std::error::Error) -> String {
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
impl OidcProviders for OidcIssuers {
    fn providers(&self) -> &[Provider] {
        &self.providers
    }

    async fn authorization_url(
        &self,
        provider: &str,
        redirect_uri: &str,
        ties: &AuthRequestState,
    ) -> Result<String, OidcError> {
        let registration = self.get_registration(provider)?;
        let metadata = self.discover_metadata(registration).await?;
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

    async fn exchange_code(
        &self,
        provider: &str,
        redirect_uri: &str,
        returned: &CallbackParams,
        ties: &AuthRequestState,
    ) -> Result<IdTokenClaims, OidcError> {
        let registration = self.get_registration(provider)?;
        let metadata = self.discover_metadata(registration).await?;
        // RFC 9207, section 2.4: a code of one issuer must not be sent to another.
        let requires_iss = &metadata.additional_metadata().authorization_response_iss_parameter_supported;
        match &returned.issuer {
            Some(issuer) if *issuer != registration.issuer => {
                return Err(OidcError::Refused("the response names another issuer".to_owned()));
            }
            None if *requires_iss => {
                return Err(OidcError::Refused("the response does not name its issuer".to_owned()));
            }
            _ => {}
        }
        let secret = registration.client_secret.as_ref();
        let client = CoreClient::from_provider_metadata(
            metadata,
            ClientId::new(registration.client_id.clone()),
            secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned())),
        )
        .set_redirect_uri(RedirectUrl::new(redirect_uri.to_owned()).map_err(refused)?);
        let response = client
            .exchange_code(AuthorizationCode::new(returned.code.expose_secret().to_owned()))
            .map_err(refused)?
            .set_pkce_verifier(PkceCodeVerifier::new(ties.verifier.expose_secret().to_owned()))
            .request_async(&self.http)
            .await
            .map_err(|error| match error {
                // An OAuth error (RFC 6749, section 5.2) or unusable tokens are a refusal; anything else is no
                // response.
                RequestTokenError::ServerResponse(_) => refused(error),
                RequestTokenError::Parse(_, ref body) if has_tokens(body) => refused(error),
                _ => unreachable(error),
            })?;
        let id_token = response.id_token();
        let id_token = id_token.ok_or_else(|| OidcError::Refused("there is no ID token".to_owned()))?;
        // Verifies signature, issuer, audience, expiry and nonce (OpenID Connect Core 1.0, section 3.1.3.7).
        let nonce = Nonce::new(ties.nonce.expose_secret().to_owned());
        let claims = id_token.claims(&client.id_token_verifier(), &nonce).map_err(refused)?;
        let name = claims.name().and_then(|names| names.get(None)).map(|name| name.to_string());
        Ok(IdTokenClaims {
            issuer: claims.issuer().to_string(),
            subject: claims.subject().to_string(),
            email: claims.email().map(|email| email.to_string()),
            email_verified: claims.email_verified().into(),
            name,
        })
    }
}
