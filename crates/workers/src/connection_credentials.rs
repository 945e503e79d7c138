//! Opens the credentials of connections: secrets that people gave, and access tokens, which it gets and renews.
//!
//! Nothing that is opened is kept in memory beyond a request. Tokens are stored sealed, so that every node uses the same
//! one, and renewed at four fifths of their life, by one node at a time: it reserves the renewal. A node that ends while it
//! renews delays the next renewal until its reservation ends.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use connections::{
    Auth, Connection, ConnectionPolicy, CredentialSource, OutboundClient, Refusal, RefusalCode,
    authorize_token_request,
    connection::SecretPurpose,
    connections::{ConnectionError, mark_expired, record_outcome},
    health::{CallOutcome, status_after},
    oauth_apps::{OauthApp, OauthApps},
    outbound::{GrantSource, OpenedCredential, TokenError, TokenGrant},
    stored_token::StoredToken,
};
use kernel::{Caller, Clock, Context, Id, Randomness, StoreError, Timestamp, id::ConnectionId, vault::Vault};
use moka::sync::Cache;
use secrecy::SecretString;
use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout},
};

use crate::ConnectionStore;

/// Connections whose tokens are being renewed; at most. Beyond that, a node may renew a token twice at once.
const MAX_RENEWALS: u64 = 10_000;
/// Time after which a renewal is forgotten that nobody waits for.
const RENEWAL_IDLE: Duration = Duration::from_secs(60);
/// Time for which a token endpoint that refused is not asked again, unless the connection was changed.
const REFUSAL_TTL: Duration = Duration::from_secs(5);

/// Time that a token endpoint has.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(15);
/// Time for which a renewal is reserved: longer than it takes.
const RESERVATION: TimeDelta = TimeDelta::seconds(20);
/// Time that a request waits for the renewal of another node, and between two looks at it.
const RENEWAL_WAIT: Duration = Duration::from_secs(20);
const RENEWAL_POLL: Duration = Duration::from_millis(100);

/// Least time between two renewals because a service rejected a token before its end. An app can cause rejections.
const REJECTION_INTERVAL: TimeDelta = TimeDelta::seconds(60);
/// Time after which a rejection, or a renewal, is forgotten.
const REJECTION_TTL: Duration = Duration::from_secs(600);

/// Dependencies of [`ConnectionCredentials`].
pub struct ConnectionCredentialsDeps {
    /// Reads sealed texts, and keeps tokens and the status of connections.
    pub store: Arc<dyn ConnectionStore>,
    /// Opens and seals them.
    pub vault: Vault,
    /// Asks token endpoints.
    pub outbound: Arc<dyn OutboundClient>,
    /// OAuth apps of the operator.
    pub oauth_apps: Arc<OauthApps>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Source of ids, keys and nonces.
    pub random: Arc<dyn Randomness>,
}

/// Opens the credentials of connections, and records what services say about them.
pub struct ConnectionCredentials {
    deps: ConnectionCredentialsDeps,
    renewals: Cache<ConnectionId, Arc<Mutex<()>>>,
    refusals: Cache<(ConnectionId, u32), Refusal>,
    /// Connections whose stored token a service rejected.
    rejected: Cache<ConnectionId, ()>,
    /// Times at which this node renewed tokens.
    renewed: Cache<ConnectionId, Timestamp>,
}

impl ConnectionCredentials {
    /// Creates a source of credentials.
    #[must_use]
    pub fn new(deps: ConnectionCredentialsDeps) -> Self {
        Self {
            deps,
            renewals: Cache::builder().max_capacity(MAX_RENEWALS).time_to_idle(RENEWAL_IDLE).build(),
            refusals: Cache::builder().max_capacity(MAX_RENEWALS).time_to_live(REFUSAL_TTL).build(),
            rejected: Cache::builder().max_capacity(MAX_RENEWALS).time_to_live(REJECTION_TTL).build(),
            renewed: Cache::builder().max_capacity(MAX_RENEWALS).time_to_live(REJECTION_TTL).build(),
        }
    }

    /// Records what a call says about a connection, which is as it was read for the call. Nothing is written unless the
    /// status changes.
    pub async fn record_outcome(&self, connection: &Connection, outcome: CallOutcome) {
        let ctx = self.context();
        if outcome == CallOutcome::AuthRejected && connection.http.auth.uses_access_token() {
            let renewed = self.renewed.get(&connection.id);
            if renewed.is_none_or(|at| ctx.now - at >= REJECTION_INTERVAL) {
                self.rejected.insert(connection.id, ());
            }
        }
        if status_after(connection.status, outcome, ctx.now).status == connection.status {
            return;
        }
        let result = async {
            let mut tx = self.deps.store.begin_connections().await?;
            let (workspace, id, version) = (connection.workspace, connection.id, connection.secret_version);
            let next = record_outcome(&mut *tx, &ctx, workspace, id, version, outcome).await?;
            tx.commit().await?;
            Ok::<_, ConnectionError>(next)
        };
        match result.await {
            Ok(next) if next.went_down => {
                tracing::warn!(workspace = %connection.workspace, connection = %connection.id, "connection is down");
            }
            Ok(_) => {}
            Err(error) => warn(connection, &error, "cannot record the status of a connection"),
        }
    }

    fn context(&self) -> Context {
        let now = self.deps.clock.now();
        let request = Id::generate(&*self.deps.random, now);
        Context::new(Caller::System("connections"), now, request, None, Arc::clone(&self.deps.random))
    }

    /// Reads and opens a sealed text; none if nothing is stored.
    async fn open_sealed(
        &self,
        connection: &Connection,
        purpose: SecretPurpose,
    ) -> Result<Option<SecretString>, Refusal> {
        let sealed = self.deps.store.sealed_secret(connection.workspace, connection.id, purpose).await;
        let sealed = sealed.map_err(|error| {
            warn(connection, &error, "cannot read the secret of a connection");
            unavailable(connection)
        })?;
        let Some(sealed) = sealed else { return Ok(None) };
        let opened = self.deps.vault.open(&connection.sealing_context(purpose).parts(), &sealed);
        opened.map(Some).map_err(|error| {
            warn(connection, &error, "cannot open the secret of a connection");
            unavailable(connection)
        })
    }

    async fn secret(&self, connection: &Connection) -> Result<SecretString, Refusal> {
        let opened = self.open_sealed(connection, SecretPurpose::Secret).await?;
        opened.ok_or_else(|| unavailable(connection))
    }

    /// Checks without a request that what is stored opens, and that requests can carry it.
    pub(crate) async fn check_stored(&self, connection: &Connection) -> Result<(), Refusal> {
        let auth = &connection.http.auth;
        let fits = if !auth.needs_secret() {
            true
        } else if *auth == Auth::AuthorizationCode {
            self.stored_token(connection).await.is_some()
        } else {
            let secret = self.secret(connection).await?;
            connection.http.check_secret(&secret).is_ok()
        };
        fits.then_some(()).ok_or_else(|| unavailable(connection))
    }

    /// Returns the stored token; none if it was issued for an older secret, or does not open.
    async fn stored_token(&self, connection: &Connection) -> Option<StoredToken> {
        let opened = self.open_sealed(connection, SecretPurpose::Tokens).await.ok()??;
        StoredToken::parse(&opened)
    }

    /// Returns the stored token unless it has expired.
    async fn valid_token(&self, connection: &Connection) -> Option<StoredToken> {
        // A token that does not open is replaced by a new one.
        self.stored_token(connection).await.filter(|token| token.is_valid(self.deps.clock.now()))
    }

    /// Returns true if a new token should be asked for: near the end of this one, or if the service rejected it.
    fn is_due(&self, connection: &Connection, token: &StoredToken) -> bool {
        token.is_due(self.deps.clock.now()) || self.rejected.contains_key(&connection.id)
    }

    /// Returns an access token: the stored one until it is due for renewal.
    async fn access_token(&self, policy: &Arc<ConnectionPolicy>) -> Result<SecretString, Refusal> {
        let connection = &policy.connection;
        let stored = self.valid_token(connection).await;
        if let Some(token) = stored.as_ref().filter(|token| !self.is_due(connection, token)) {
            return Ok(token.access_token.clone());
        }
        let renewal = self.renewals.get_with(connection.id, Arc::default);
        let _guard = match &stored {
            // While another request renews the token, this one still serves.
            Some(token) => match renewal.try_lock() {
                Ok(guard) => guard,
                Err(_) => return Ok(token.access_token.clone()),
            },
            None => renewal.lock().await,
        };
        // Another request may have renewed it meanwhile, or another node.
        if let Some(token) =
            self.valid_token(connection).await.filter(|token| !self.is_due(connection, token))
        {
            return Ok(token.access_token);
        }
        let key = (connection.id, connection.revision);
        let refused = match self.refusals.get(&key) {
            Some(refusal) => refusal,
            None => match self.renew_alone(policy, stored.as_ref()).await {
                Ok(token) => return Ok(token),
                Err(refusal) => {
                    self.refusals.insert(key, refusal.clone());
                    refusal
                }
            },
        };
        let is_final = matches!(refused.code, RefusalCode::Expired | RefusalCode::NotConnected);
        stored.filter(|_| !is_final).map(|token| token.access_token).ok_or(refused)
    }

    /// Renews the token once the renewal is reserved for this node. While another node renews it, `stored` still serves;
    /// without it, the request waits for what that node gets.
    async fn renew_alone(
        &self,
        policy: &Arc<ConnectionPolicy>,
        stored: Option<&StoredToken>,
    ) -> Result<SecretString, Refusal> {
        let connection = &policy.connection;
        let begun = Instant::now();
        while !self.reserve(connection).await? {
            if let Some(token) = stored {
                return Ok(token.access_token.clone());
            }
            if begun.elapsed() > RENEWAL_WAIT {
                let name = &connection.display_name;
                let message = format!("the access token of the connection {name} is being renewed");
                return Err(Refusal::new(RefusalCode::Timeout, message));
            }
            sleep(RENEWAL_POLL).await;
            if let Some(token) = self.valid_token(connection).await {
                return Ok(token.access_token);
            }
        }
        // The node that held the reservation before may have renewed it.
        let now = self.deps.clock.now();
        let renewed = self.valid_token(connection).await.filter(|token| !token.is_due(now));
        if let Some(token) = renewed.filter(|_| !self.rejected.contains_key(&connection.id)) {
            self.release(connection).await;
            return Ok(token.access_token);
        }
        let result = timeout(TOKEN_TIMEOUT, self.renew(policy)).await.unwrap_or_else(|_| {
            let message =
                format!("the token endpoint of the connection {} is too slow", connection.display_name);
            Err(Refusal::new(RefusalCode::Timeout, message))
        });
        match result {
            Ok(token) => {
                self.rejected.invalidate(&connection.id);
                self.renewed.insert(connection.id, now);
                Ok(token.access_token)
            }
            Err(refusal) => {
                self.release(connection).await;
                Err(refusal)
            }
        }
    }

    async fn reserve(&self, connection: &Connection) -> Result<bool, Refusal> {
        let now = self.deps.clock.now();
        let reserve = async {
            let mut tx = self.deps.store.begin_connections().await?;
            let (workspace, id) = (connection.workspace, connection.id);
            let reserved = tx.reserve_renewal(workspace, id, now, now + RESERVATION).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(reserved)
        };
        reserve.await.map_err(|error| {
            warn(connection, &error, "cannot reserve the renewal of an access token");
            unavailable(connection)
        })
    }

    async fn release(&self, connection: &Connection) {
        let release = async {
            let mut tx = self.deps.store.begin_connections().await?;
            tx.release_renewal(connection.workspace, connection.id).await?;
            tx.commit().await
        };
        if let Err(error) = release.await {
            warn(connection, &error, "cannot end the reservation of a renewal");
        }
    }

    pub(crate) fn oauth_app(&self, connection: &Connection) -> Result<&OauthApp, Refusal> {
        self.deps.oauth_apps.get(&connection.connector).ok_or_else(|| {
            let message = format!("the operator has no OAuth app for {}", connection.connector);
            Refusal::new(RefusalCode::SecretUnavailable, message)
        })
    }

    /// Gets a new token from the token endpoint, and stores it.
    async fn renew(&self, policy: &Arc<ConnectionPolicy>) -> Result<StoredToken, Refusal> {
        let connection = &policy.connection;
        let token_url = match &connection.http.auth {
            Auth::AuthorizationCode => self.oauth_app(connection)?.token_url.as_str(),
            auth => auth.token_url().ok_or_else(|| unavailable(connection))?.as_str(),
        };
        let permit = authorize_token_request(token_url, policy)?;
        let ctx = self.context();
        let issued = match self.deps.outbound.request_token(permit, &StoredGrant(self), ctx.now).await {
            Ok(issued) => issued,
            Err(TokenError::Refused(refusal)) if refusal.code != RefusalCode::Expired => return Err(refusal),
            Err(TokenError::Refused(_) | TokenError::GrantEnded) => {
                if let Err(error) = self.expire(&ctx, connection).await {
                    warn(connection, &error, "cannot mark a connection as expired");
                }
                return Err(expired(connection));
            }
        };
        let token = StoredToken::new(issued, ctx.now).succeeding(self.stored_token(connection).await);
        match self.store_token(&ctx, connection, &token).await {
            Ok(true) => Ok(token),
            Ok(false) => {
                let message = format!("the connection {} was changed meanwhile", connection.display_name);
                Err(Refusal::new(RefusalCode::NotConnected, message))
            }
            Err(error) => {
                warn(connection, &error, "cannot store an access token");
                Ok(token)
            }
        }
    }

    /// Stores a token and ends the reservation of its renewal. Returns false if the connection was changed since it was
    /// read, so that the token is not for what it is now.
    async fn store_token(
        &self,
        ctx: &Context,
        connection: &Connection,
        token: &StoredToken,
    ) -> Result<bool, StoreError> {
        let (workspace, id) = (connection.workspace, connection.id);
        let mut tx = self.deps.store.begin_connections().await?;
        let now = tx.connection_for_update(workspace, id).await?.filter(|now| {
            let is_same = now.http.auth == connection.http.auth && now.http.host == connection.http.host;
            is_same && now.secret_version == connection.secret_version && !now.status.is_disconnected()
        });
        if now.is_none() {
            return Ok(false);
        }
        // A node whose reservation has ended may be late. A new refresh token replaces the one before in any case.
        let is_late = token.refresh_token.is_none()
            && self.valid_token(connection).await.is_some_and(|stored| stored.lasts_as_long_as(token));
        if !is_late {
            let context = connection.sealing_context(SecretPurpose::Tokens);
            let sealed = self.deps.vault.seal(ctx.random(), &context.parts(), &token.to_text());
            tx.put_sealed_secret(workspace, id, SecretPurpose::Tokens, &sealed).await?;
        }
        tx.release_renewal(workspace, id).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn expire(&self, ctx: &Context, connection: &Connection) -> Result<(), ConnectionError> {
        let mut tx = self.deps.store.begin_connections().await?;
        mark_expired(&mut *tx, ctx, connection.workspace, connection.id, connection.secret_version).await?;
        Ok(tx.commit().await?)
    }
}

#[async_trait]
impl CredentialSource for ConnectionCredentials {
    async fn open(&self, policy: &Arc<ConnectionPolicy>) -> Result<OpenedCredential, Refusal> {
        let auth = &policy.connection.http.auth;
        if !auth.needs_secret() {
            Ok(OpenedCredential::None)
        } else if auth.uses_access_token() {
            self.access_token(policy).await.map(OpenedCredential::AccessToken)
        } else {
            self.secret(&policy.connection).await.map(OpenedCredential::Secret)
        }
    }
}

/// Opens what a token endpoint gives out a token for: the secret that a person gave, or a stored refresh token.
struct StoredGrant<'a>(&'a ConnectionCredentials);

#[async_trait]
impl GrantSource for StoredGrant<'_> {
    async fn open_grant(&self, policy: &Arc<ConnectionPolicy>) -> Result<TokenGrant, Refusal> {
        let connection = &policy.connection;
        if connection.http.auth != Auth::AuthorizationCode {
            return self.0.secret(connection).await.map(TokenGrant::Secret);
        }
        let app = self.0.oauth_app(connection)?.clone();
        let opened = self.0.open_sealed(connection, SecretPurpose::Tokens).await?;
        let stored = opened.as_ref().and_then(StoredToken::parse).ok_or_else(|| unavailable(connection))?;
        let token = stored.refresh_token.ok_or_else(|| expired(connection))?;
        Ok(TokenGrant::RefreshToken(app, token))
    }
}

fn expired(connection: &Connection) -> Refusal {
    let message = format!("the connection {} has expired; connect it again", connection.display_name);
    Refusal::new(RefusalCode::Expired, message)
}

fn unavailable(connection: &Connection) -> Refusal {
    let message = format!("the secret of the connection {} cannot be opened", connection.display_name);
    Refusal::new(RefusalCode::SecretUnavailable, message)
}

fn warn(connection: &Connection, error: &(dyn std::error::Error + 'static), what: &'static str) {
    tracing::warn!(workspace = %connection.workspace, connection = %connection.id, error, "{what}");
}

impl std::fmt::Debug for ConnectionCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectionCredentials").finish_non_exhaustive()
    }
}
