//! The port that sends permitted requests.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::{StreamExt as _, stream::BoxStream};
use kernel::{RedirectMode, ShareId, Timestamp};
use secrecy::SecretString;

use crate::{
    Connection, ConnectionPolicy, EgressPermit, Refusal, app_secrets::headers::SecretHeader,
    injection::Credential, oauth_apps::OauthApp,
};

/// The headers and body of a request; its URL and method are in the [`EgressPermit`].
#[derive(Debug, Default)]
pub struct OutboundRequest {
    /// Headers, in order.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: OutboundBody,
    /// Redirect mode. Only GET and HEAD follow redirects.
    pub redirect: RedirectMode,
    /// Account of the search for secrets in the response.
    pub search: SearchAccount,
}

/// The account of searches for secrets: long ones of all shares take turns, and their time is charged.
#[derive(Clone)]
pub struct SearchAccount {
    share: ShareId,
    charge: Arc<dyn Fn(Duration) + Send + Sync>,
}

impl SearchAccount {
    /// Creates an account of a share. `charge` takes the time of each search.
    pub fn new(share: ShareId, charge: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Self { share, charge: Arc::new(charge) }
    }

    /// Returns the share that it belongs to.
    #[must_use]
    pub fn share(&self) -> ShareId {
        self.share
    }

    /// Charges the time of a search.
    pub fn charge(&self, used: Duration) {
        (self.charge)(used);
    }
}

impl Default for SearchAccount {
    /// Returns the account of nobody, who is charged nothing.
    fn default() -> Self {
        Self::new(ShareId::default(), |_| {})
    }
}

impl fmt::Debug for SearchAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SearchAccount").field(&self.share).finish()
    }
}

/// The response to a request.
#[derive(Debug)]
pub struct OutboundResponse {
    /// Status; 200 to 599.
    pub status: u16,
    /// Headers, in order and with lower-case names.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: OutboundBody,
    /// URL of the response if redirects were followed, without the secrets of the request.
    pub redirected_to: Option<String>,
}

/// The body of a request or a response.
pub enum OutboundBody {
    /// The whole body.
    Complete(Bytes),
    /// Pieces as they come. A refusal is the last item, and means that the body is incomplete. Dropping the stream stops the
    /// request.
    Stream(BoxStream<'static, Result<Bytes, Refusal>>),
}

impl OutboundBody {
    /// Returns the whole body. A client bounds the length of the bodies of responses.
    ///
    /// # Errors
    /// [`Refusal`] at which the body broke off.
    pub async fn collect(self) -> Result<Bytes, Refusal> {
        let mut pieces = match self {
            Self::Complete(body) => return Ok(body),
            Self::Stream(pieces) => pieces,
        };
        let mut body = BytesMut::new();
        while let Some(piece) = pieces.next().await {
            body.extend_from_slice(&piece?);
        }
        Ok(body.freeze())
    }
}

impl Default for OutboundBody {
    fn default() -> Self {
        Self::Complete(Bytes::new())
    }
}

impl<T: Into<Bytes>> From<T> for OutboundBody {
    fn from(body: T) -> Self {
        Self::Complete(body.into())
    }
}

impl fmt::Debug for OutboundBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(body) => f.debug_tuple("Complete").field(&body.len()).finish(),
            Self::Stream(_) => f.debug_tuple("Stream").finish_non_exhaustive(),
        }
    }
}

/// The credential of a connection, opened for one request.
#[derive(Debug, Clone)]
pub enum OpenedCredential {
    /// No credential.
    None,
    /// The secret that a person gave.
    Secret(SecretString),
    /// An access token from a token endpoint.
    AccessToken(SecretString),
}

impl OpenedCredential {
    /// Returns the credential for [`inject`](crate::injection::inject).
    #[must_use]
    pub fn as_credential(&self) -> Credential<'_> {
        match self {
            Self::None => Credential::None,
            Self::Secret(secret) => Credential::Secret(secret),
            Self::AccessToken(token) => Credential::AccessToken(token),
        }
    }
}

/// Opens the credentials of connections. A client asks for one only after all that could refuse the request: its
/// headers, its size, and the addresses of its host.
#[async_trait]
pub trait CredentialSource: Send + Sync {
    /// Opens the credential that a request through the policy's connection carries.
    ///
    /// # Errors
    /// [`Refusal`] when there is none to be had: it does not open, or the token endpoint gives out none.
    async fn open(&self, policy: &Arc<ConnectionPolicy>) -> Result<OpenedCredential, Refusal>;
}

/// Opens secrets of apps, as [`CredentialSource`] opens credentials.
#[async_trait]
pub trait SecretSource: Send + Sync {
    /// Opens a secret of the app that sends the request.
    ///
    /// # Errors
    /// [`Refusal`] when it does not open.
    async fn open_secret(&self, name: &str) -> Result<SecretString, Refusal>;
}

/// An access token that a token endpoint gave out.
#[derive(Debug, Clone)]
pub struct IssuedToken {
    /// Token.
    pub access_token: SecretString,
    /// Refresh token (RFC 6749, section 1.5).
    pub refresh_token: Option<SecretString>,
    /// Time for which it is valid from now on; none if the endpoint did not say.
    pub lifetime: Option<Duration>,
}

/// A token by which a grant is revoked (RFC 7009, section 2.1).
#[derive(Debug, Clone)]
pub enum RevocableToken {
    /// Refresh token. The access tokens of the same grant end with it.
    Refresh(SecretString),
    /// Access token.
    Access(SecretString),
}

/// What a token endpoint gives out a token for.
#[derive(Debug, Clone)]
pub enum TokenGrant {
    /// The secret of the connection: client credentials (RFC 6749, section 4.4), or the key of a service account (RFC
    /// 7523).
    Secret(SecretString),
    /// The code of an authorization in a browser (RFC 6749, section 4.1.3).
    Code(OauthApp, AuthorizationCode),
    /// A refresh token (RFC 6749, section 6).
    RefreshToken(OauthApp, SecretString),
}

/// The code of an authorization in a browser.
#[derive(Debug, Clone)]
pub struct AuthorizationCode {
    /// Code.
    pub code: SecretString,
    /// PKCE code verifier (RFC 7636).
    pub verifier: SecretString,
    /// Redirect URI of the authorization request.
    pub redirect_uri: String,
}

/// Opens the grants of connections, as [`CredentialSource`] opens credentials.
#[async_trait]
pub trait GrantSource: Send + Sync {
    /// Opens the grant for which the policy's connection gets a token.
    ///
    /// # Errors
    /// [`Refusal`] when there is none to be had.
    async fn open_grant(&self, policy: &Arc<ConnectionPolicy>) -> Result<TokenGrant, Refusal>;
}

/// Client of the authorization servers at which people allow access in a browser.
#[async_trait]
pub trait AuthorizationServers: Send + Sync {
    /// Exchanges the code of an authorization for tokens, at the token endpoint of the connection's connector.
    ///
    /// # Errors
    /// [`TokenError`] when there is no token. No message has the code.
    async fn exchange_code(
        &self,
        connection: Connection,
        code: AuthorizationCode,
    ) -> Result<IssuedToken, TokenError>;

    /// Revokes the grant of a connection that was disconnected, at the revocation endpoint of its connector (RFC 7009). Returns
    /// false if it has none.
    ///
    /// # Errors
    /// [`Refusal`] when the endpoint did not confirm it. No message has a token.
    async fn revoke_token(&self, connection: Connection, token: RevocableToken) -> Result<bool, Refusal>;
}

/// The reason why a token endpoint gave out no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The grant has ended (`invalid_grant`): somebody has to connect again.
    #[error("the grant has ended")]
    GrantEnded,
    /// The request was not sent, or its response is of no use.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A client for requests to other hosts.
#[async_trait]
pub trait OutboundClient: Send + Sync {
    /// Sends a permitted request and returns the response, once its headers are there. The permit is not one of a connection.
    ///
    /// # Errors
    /// [`Refusal`] when the request was not sent, or its response not accepted.
    async fn send(&self, request: OutboundRequest, permit: EgressPermit)
    -> Result<OutboundResponse, Refusal>;

    /// Sends a permitted request with secrets of the app in headers, and returns the response without them. The permit is
    /// not one of a connection.
    ///
    /// # Errors
    /// [`Refusal`] when the request was not sent, or its response not accepted. No message has a secret.
    async fn send_with_secrets(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
        headers: &[SecretHeader],
        secrets: &dyn SecretSource,
    ) -> Result<OutboundResponse, Refusal>;

    /// Sends a permitted request through a connection, with its credential, and returns the response without it.
    ///
    /// # Errors
    /// [`Refusal`] when the request was not sent, or its response not accepted. No message has the credential.
    async fn send_through_connection(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
        credentials: &dyn CredentialSource,
    ) -> Result<OutboundResponse, Refusal>;

    /// Asks the token endpoint of a connection for an access token. `grants` opens what it gives out the token for.
    ///
    /// # Errors
    /// [`TokenError`] when there is no token. No message has the secret or what the endpoint said.
    async fn request_token(
        &self,
        permit: EgressPermit,
        grants: &dyn GrantSource,
        now: Timestamp,
    ) -> Result<IssuedToken, TokenError>;

    /// Asks a revocation endpoint to revoke a token that the app was given (RFC 7009). The permit is one for a token endpoint.
    ///
    /// # Errors
    /// [`Refusal`] when the request was not sent, or the endpoint did not confirm it. No message has a token.
    async fn revoke_token(
        &self,
        permit: EgressPermit,
        app: OauthApp,
        token: RevocableToken,
    ) -> Result<(), Refusal>;
}
