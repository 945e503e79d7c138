//! Sign-in with other issuers (OpenID Connect Core 1.0, authorization code flow).
//!
//! Of what an issuer sends, only the members that are used are read: an issuer that is strict in these works, whatever type it
//! gives to the others. Each sign-in fetches the issuer's metadata and keys: sign-ins are few, and an issuer's keys change.

mod claims;
mod client;
mod exchange;
mod id_token;
mod key_material;
mod keys;
mod metadata;
mod registration;
mod signature;
mod userinfo;

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use identity::oidc::{AuthRequestState, CallbackParams, IdTokenClaims, OidcError, OidcProviders, Provider};
use kernel::Timestamp;
use ring::digest::{SHA256, digest};
use secrecy::ExposeSecret as _;
use url::Url;

use client::IssuerHttpClient;
pub use client::TlsError;
use metadata::Metadata;
pub use registration::{Registration, ResponseMode};

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

    /// Fetches the metadata and the keys of each issuer, as a sign-in does. For `qala doctor`: a server starts without.
    pub async fn check(&self) -> Vec<(&Provider, Result<(), OidcError>)> {
        let mut results = Vec::with_capacity(self.registrations.len());
        for registration in &self.registrations {
            let checked = async {
                let metadata = Metadata::discover(&self.http, registration).await?;
                keys::fetch(&self.http, &metadata).await.map(drop)
            };
            results.push((&registration.provider, checked.await));
        }
        results
    }

    fn get_registration(&self, provider: &str) -> Result<&Registration, OidcError> {
        let found = self.registrations.iter().find(|registration| registration.provider.name == provider);
        found.ok_or_else(|| OidcError::Refused("the provider is not configured".to_owned()))
    }
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
        let metadata = Metadata::discover(&self.http, registration).await?;
        // Fetched so that a person who could not be signed in afterwards is told so before.
        keys::fetch(&self.http, &metadata).await?;
        // RFC 7636, section 4.2.
        let challenge = digest(&SHA256, ties.verifier.expose_secret().as_bytes());
        let mut url: Url = metadata.authorization_endpoint;
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &registration.client_id)
                .append_pair("redirect_uri", redirect_uri)
                .append_pair("scope", &metadata.scope)
                .append_pair("state", ties.state.expose_secret())
                .append_pair("nonce", ties.nonce.expose_secret())
                .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(challenge))
                .append_pair("code_challenge_method", "S256");
            if let Some(mode) = metadata.response_mode {
                query.append_pair("response_mode", mode.as_str());
            }
        }
        Ok(url.into())
    }

    async fn exchange_code(
        &self,
        provider: &str,
        redirect_uri: &str,
        returned: &CallbackParams,
        ties: &AuthRequestState,
        now: Timestamp,
    ) -> Result<IdTokenClaims, OidcError> {
        let registration = self.get_registration(provider)?;
        let metadata = Metadata::discover(&self.http, registration).await?;
        // RFC 9207, section 2.4: a code of one issuer must not be sent to another.
        match &returned.issuer {
            Some(issuer) if *issuer != registration.issuer => {
                return Err(OidcError::Refused("the response names another issuer".to_owned()));
            }
            None if metadata.requires_iss_parameter => {
                return Err(OidcError::Refused("the response does not name its issuer".to_owned()));
            }
            _ => {}
        }
        // Before the code, which can be exchanged once.
        let keys = keys::fetch(&self.http, &metadata).await?;
        let tokens =
            exchange::exchange_code(&self.http, registration, &metadata, redirect_uri, returned, ties)
                .await?;
        let expected = id_token::Expected {
            issuer: &registration.issuer,
            client_id: &registration.client_id,
            client_secret: registration.client_secret.as_ref().filter(|_| metadata.signs_with_secret),
            nonce: ties.nonce.expose_secret(),
            now,
        };
        let claims = id_token::verify(&tokens.id_token, &keys, &expected)?;
        userinfo::complete(&self.http, &metadata, tokens.access_token.as_ref(), claims).await
    }
}
