//! Opens the credentials of connections: secrets that people gave, and access tokens, which it gets and renews.
//!
//! Nothing that is opened is kept in memory beyond a request. Tokens are stored sealed, so that every node uses the same
//! one, and renewed at four fifths of their life: by one request of a node at a time. Nodes that renew at once store the
//! token that lasts longer.

mod stored_token;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use connections::{
    Connection, ConnectionPolicy, CredentialSource, OutboundClient, Refusal, RefusalCode,
    authorize_token_request,
    connection::SecretPurpose,
    connections::{ConnectionError, mark_expired, record_outcome},
    health::{CallOutcome, status_after},
    outbound::{OpenedCredential, TokenError},
};
use kernel::{Caller, Clock, Context, Id, Randomness, StoreError, Timestamp, id::ConnectionId, vault::Vault};
use moka::sync::Cache;
use secrecy::SecretString;
use tokio::sync::Mutex;

use crate::ConnectionStore;
use stored_token::StoredToken;

/// Connections whose tokens are being renewed; at most. Beyond that, a node may renew a token twice at once.
const MAX_RENEWALS: u64 = 10_000;
/// Time after which a renewal is forgotten that nobody waits for.
const RENEWAL_IDLE: Duration = Duration::from_secs(60);
/// Time for which a token endpoint that refused is not asked again, unless the connection was changed.
const REFUSAL_TTL: Duration = Duration::from_secs(5);

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

    /// Returns the stored token, unless it has expired or was issued for an older secret.
    async fn stored_token(&self, connection: &Connection) -> Option<StoredToken> {
        // A token that does not open is replaced by a new one.
        let opened = self.open_sealed(connection, SecretPurpose::Tokens).await.ok()??;
        StoredToken::parse(&opened).filter(|token| token.is_valid(self.deps.clock.now()))
    }

    /// Returns true if a new token should be asked for: near the end of this one, or if the service rejected it.
    fn is_due(&self, connection: &Connection, token: &StoredToken) -> bool {
        token.is_due(self.deps.clock.now()) || self.rejected.contains_key(&connection.id)
    }

    /// Returns an access token: the stored one until it is due for renewal.
    async fn access_token(&self, policy: &Arc<ConnectionPolicy>) -> Result<SecretString, Refusal> {
        let connection = &policy.connection;
        let stored = self.stored_token(connection).await;
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
            self.stored_token(connection).await.filter(|token| !self.is_due(connection, token))
        {
            return Ok(token.access_token);
        }
        let key = (connection.id, connection.revision);
        let refused = match self.refusals.get(&key) {
            Some(refusal) => refusal,
            None => match self.renew(policy).await {
                Ok(token) => {
                    self.rejected.invalidate(&connection.id);
                    self.renewed.insert(connection.id, self.deps.clock.now());
                    return Ok(token.access_token);
                }
                Err(refusal) => {
                    self.refusals.insert(key, refusal.clone());
                    refusal
                }
            },
        };
        let is_final = matches!(refused.code, RefusalCode::Expired | RefusalCode::NotConnected);
        stored.filter(|_| !is_final).map(|token| token.access_token).ok_or(refused)
    }

    /// Gets a new token from the token endpoint, and stores it.
    async fn renew(&self, policy: &Arc<ConnectionPolicy>) -> Result<StoredToken, Refusal> {
        let connection = &policy.connection;
        let Some(token_url) = connection.http.auth.token_url() else { return Err(unavailable(connection)) };
        let permit = authorize_token_request(token_url.as_str(), policy)?;
        let ctx = self.context();
        match self.deps.outbound.request_token(permit, &StoredSecret(self), ctx.now).await {
            Ok(issued) => {
                let token = StoredToken::new(issued, ctx.now);
                match self.store_token(&ctx, connection, &token).await {
                    Ok(true) => Ok(token),
                    Ok(false) => {
                        let message =
                            format!("the connection {} was changed meanwhile", connection.display_name);
                        Err(Refusal::new(RefusalCode::NotConnected, message))
                    }
                    Err(error) => {
                        warn(connection, &error, "cannot store an access token");
                        Ok(token)
                    }
                }
            }
            Err(TokenError::Refused(refusal)) => Err(refusal),
            Err(TokenError::GrantEnded) => {
                if let Err(error) = self.expire(&ctx, connection).await {
                    warn(connection, &error, "cannot mark a connection as expired");
                }
                let name = &connection.display_name;
                let message = format!("the connection {name} has expired; connect it again");
                Err(Refusal::new(RefusalCode::Expired, message))
            }
        }
    }

    /// Stores a token, unless another node stored one that lasts longer. Returns false if the connection was changed since
    /// it was read, so that the token is not for what it is now.
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
        if self.stored_token(connection).await.is_some_and(|stored| stored.lasts_as_long_as(token)) {
            return Ok(true);
        }
        let context = connection.sealing_context(SecretPurpose::Tokens);
        let sealed = self.deps.vault.seal(ctx.random(), &context.parts(), &token.to_text());
        tx.put_sealed_secret(workspace, id, SecretPurpose::Tokens, &sealed).await?;
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

/// Opens the secret that a person gave, for a token endpoint.
struct StoredSecret<'a>(&'a ConnectionCredentials);

#[async_trait]
impl CredentialSource for StoredSecret<'_> {
    async fn open(&self, policy: &Arc<ConnectionPolicy>) -> Result<OpenedCredential, Refusal> {
        self.0.secret(&policy.connection).await.map(OpenedCredential::Secret)
    }
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
