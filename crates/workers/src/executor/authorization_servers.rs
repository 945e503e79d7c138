//! Requests to the authorization servers of connections, through the gate.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use connections::{
    Connection, ConnectionPolicy, Refusal, RefusalCode, authorize_token_request,
    connection::ConnectionStatus,
    oauth_apps::OauthApp,
    outbound::{
        AuthorizationCode, AuthorizationServers, GrantSource, IssuedToken, RevocableToken, TokenError,
        TokenGrant,
    },
};
use tokio::time::timeout;

use super::{Executor, egress};

#[async_trait]
impl AuthorizationServers for Executor {
    async fn exchange_code(
        &self,
        connection: Connection,
        code: AuthorizationCode,
    ) -> Result<IssuedToken, TokenError> {
        let app = self.0.credentials.oauth_app(&connection)?.clone();
        let policy = egress::connection_policy(connection, &self.0.settings);
        let permit = authorize_token_request(app.token_url.as_str(), &policy)?;
        let now = self.0.clock.now();
        self.0.outbound.request_token(permit, &GivenCode(app, code), now).await
    }

    async fn revoke_token(&self, connection: Connection, token: RevocableToken) -> Result<bool, Refusal> {
        let app = self.0.credentials.oauth_app(&connection)?.clone();
        let Some(url) = app.revocation_url.clone() else { return Ok(false) };
        // The decision is the one that a renewal got before.
        let connection = Connection { status: ConnectionStatus::NEW, ..connection };
        let policy = egress::connection_policy(connection, &self.0.settings);
        let permit = authorize_token_request(url.as_str(), &policy)?;
        let host = permit.host().clone();
        let revoked = timeout(REVOCATION_TIMEOUT, self.0.outbound.revoke_token(permit, app, token)).await;
        revoked.map_err(|_| Refusal::new(RefusalCode::Timeout, format!("{host} took too long")))??;
        Ok(true)
    }
}

/// Time that a revocation endpoint has. Somebody waits for it.
const REVOCATION_TIMEOUT: Duration = Duration::from_secs(5);

/// A code that the service has just given out.
struct GivenCode(OauthApp, AuthorizationCode);

#[async_trait]
impl GrantSource for GivenCode {
    async fn open_grant(&self, _: &Arc<ConnectionPolicy>) -> Result<TokenGrant, Refusal> {
        Ok(TokenGrant::Code(self.0.clone(), self.1.clone()))
    }
}
