//! Exchanges of authorization codes for tokens, through the gate.

use std::sync::Arc;

use async_trait::async_trait;
use connections::{
    Connection, ConnectionPolicy, Refusal, authorize_token_request,
    oauth_apps::OauthApp,
    outbound::{AuthorizationCode, CodeExchanger, GrantSource, IssuedToken, TokenError, TokenGrant},
};

use super::{Executor, egress};

#[async_trait]
impl CodeExchanger for Executor {
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
}

/// A code that the service has just given out.
struct GivenCode(OauthApp, AuthorizationCode);

#[async_trait]
impl GrantSource for GivenCode {
    async fn open_grant(&self, _: &Arc<ConnectionPolicy>) -> Result<TokenGrant, Refusal> {
        Ok(TokenGrant::Code(self.0.clone(), self.1.clone()))
    }
}
