//! A client asks.

use kernel::{Context, StoreError};

use super::{Authorization, AuthorizationStage, LIFETIME};
use crate::oauth::{AgentAccess, Client, OAuthTx, pkce::CodeChallenge, redirect::RedirectUri};

/// What a client asks for, looked through.
#[derive(Debug, Clone)]
pub struct AuthorizationRequest {
    /// Where the answer goes; the client may be answered there.
    pub redirect_uri: RedirectUri,
    /// What the client wants back with the answer.
    pub state: Option<String>,
    /// What the client must prove to know when it exchanges the code.
    pub challenge: CodeChallenge,
    /// What tokens will be for.
    pub audience: String,
    /// What the client asks to do.
    pub requested: AgentAccess,
}

/// Keeps a client's question for a person to decide.
///
/// # Errors
/// What the store says.
pub async fn create_authorization(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    client: &Client,
    request: AuthorizationRequest,
) -> Result<Authorization, StoreError> {
    let authorization = Authorization {
        id: ctx.new_id(),
        client: client.snapshot.clone(),
        homepage_host: client.homepage_host.clone(),
        redirect_uri: request.redirect_uri,
        state: request.state,
        challenge: request.challenge,
        audience: request.audience,
        requested: request.requested,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
        stage: AuthorizationStage::Pending,
    };
    tx.insert_authorization(&authorization).await?;
    let detail = serde_json::json!({ "client": authorization.client.id, "access": authorization.requested });
    tx.audit(ctx.audit_entry("authorization.create").target(authorization.id).detail(detail));
    Ok(authorization)
}
