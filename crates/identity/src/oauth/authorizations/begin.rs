//! A client asks.

use kernel::{Context, StoreError};

use super::{Authorization, LIFETIME, Stage};
use crate::oauth::{AgentAccess, Client, OAuthTx, pkce::Challenge, redirect::RedirectUri};

/// What a client asks for, looked through.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Where the answer goes; the client may be answered there.
    pub redirect: RedirectUri,
    /// What the client wants back with the answer.
    pub state: Option<String>,
    /// What the client must prove to know when it exchanges the code.
    pub challenge: Challenge,
    /// What tokens will be for.
    pub audience: String,
    /// What the client asks to do.
    pub requested: AgentAccess,
}

/// Keeps a client's question for a person to decide.
///
/// # Errors
/// What the store says.
pub async fn begin_authorization<T: OAuthTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    client: &Client,
    ask: Ask,
) -> Result<Authorization, StoreError> {
    let authorization = Authorization {
        id: ctx.id(),
        client: client.who.clone(),
        homepage_host: client.homepage_host.clone(),
        redirect: ask.redirect,
        state: ask.state,
        challenge: ask.challenge,
        audience: ask.audience,
        requested: ask.requested,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
        stage: Stage::Waiting,
    };
    tx.insert_authorization(&authorization).await?;
    let detail = serde_json::json!({ "client": authorization.client.id, "access": authorization.requested });
    tx.audit(ctx.audit("authorization.create").target(authorization.id).detail(detail));
    Ok(authorization)
}
