//! The token endpoint: exchanges codes and refresh tokens for tokens (draft-ietf-oauth-v2-1, section 3.2).

use application::unit;
use axum::{
    Json,
    extract::{Request, State},
};
use chrono::TimeDelta;
use identity::oauth::{
    AgentAccess, GrantError,
    grants::{ACCESS_LIFETIME, CodeExchange, RefreshRequest, TokenPair, exchange_code, refresh_tokens},
    resource::{is_mcp_resource, mcp_resource_url},
};
use kernel::Context;
use secrecy::ExposeSecret as _;
use serde::Serialize;

use super::{error::OAuthError, form::Parameters};
use crate::{
    auth::agent::public_context,
    routes::device::poll::{DeviceTokenOutcome, redeem_device_code},
    state::Api,
};

const AUTHORIZATION_CODE: &str = "authorization_code";
const REFRESH_TOKEN: &str = "refresh_token";
/// Grant type of the device flow (RFC 8628, section 3.4).
const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Grant types in the metadata.
pub(super) const GRANT_TYPES: [&str; 3] = [AUTHORIZATION_CODE, REFRESH_TOKEN, DEVICE_CODE];
/// Grant types of clients that register themselves.
pub(super) const REGISTERED_GRANT_TYPES: [&str; 2] = [AUTHORIZATION_CODE, REFRESH_TOKEN];

/// Token response (RFC 6749, section 5.1).
#[derive(Serialize)]
pub(super) struct TokenResponse {
    access_token: String,
    token_type: &'static str,
    /// Lifetime in seconds.
    expires_in: i64,
    /// None for command lines: their token is valid for as long as the person chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    scope: String,
}

impl From<TokenPair> for TokenResponse {
    fn from(tokens: TokenPair) -> Self {
        Self {
            access_token: tokens.access_token.expose_secret().to_owned(),
            token_type: "Bearer",
            expires_in: ACCESS_LIFETIME.num_seconds(),
            refresh_token: Some(tokens.refresh_token.expose_secret().to_owned()),
            scope: tokens.access.scope().to_owned(),
        }
    }
}

pub(super) async fn token(
    State(api): State<Api>,
    request: Request,
) -> Result<Json<TokenResponse>, OAuthError> {
    let ctx = public_context(&api, request.extensions(), 2)?;
    let form = Parameters::from_form(request).await?;
    match form.require("grant_type")? {
        AUTHORIZATION_CODE => exchange(&api, &ctx, &form).await,
        REFRESH_TOKEN => refresh(&api, &ctx, &form).await,
        DEVICE_CODE => exchange_device_code(&api, &ctx, &form).await,
        _ => Err(OAuthError::bad_request("unsupported_grant_type", "The grant type is not supported.")),
    }
}

async fn exchange(api: &Api, ctx: &Context, form: &Parameters) -> Result<Json<TokenResponse>, OAuthError> {
    let code = form.require("code")?;
    let client_id = require_known_client(api, form).await?;
    let audience = audience(api, form)?;
    let input = CodeExchange {
        code,
        client_id,
        verifier: form.get("code_verifier").unwrap_or_default(),
        redirect_uri: form.get("redirect_uri"),
        audience: audience.as_deref(),
    };
    // A refusal may have revoked a grant, which must be committed too.
    let tokens = api.transaction(unit!(|tx| exchange_code(tx, ctx, api.peppers(), input).await)).await?;
    Ok(Json(tokens?.into()))
}

async fn refresh(api: &Api, ctx: &Context, form: &Parameters) -> Result<Json<TokenResponse>, OAuthError> {
    let token = form.require("refresh_token")?;
    let client_id = require_known_client(api, form).await?;
    let access = match form.get("scope") {
        None => None,
        Some(scope) => Some(AgentAccess::from_scope(scope).ok_or(GrantError::InvalidScope)?),
    };
    let audience = audience(api, form)?;
    let input = RefreshRequest { token, client_id, access, audience: audience.as_deref() };
    // A refusal may have revoked a grant, which must be committed too.
    let tokens = api.transaction(unit!(|tx| refresh_tokens(tx, ctx, api.peppers(), input).await)).await?;
    Ok(Json(tokens?.into()))
}

/// Exchanges the code of a device login (RFC 8628, section 3.4) for a personal access token of the person who approved
/// it. Command lines are not registered: the device code is the proof, and `client_id` must be the one of the request that
/// got it.
async fn exchange_device_code(
    api: &Api,
    ctx: &Context,
    form: &Parameters,
) -> Result<Json<TokenResponse>, OAuthError> {
    let refuse = |error, description| Err(OAuthError::bad_request(error, description));
    let (device_code, client) = (form.require("device_code")?, form.require("client_id")?);
    let redeemed = redeem_device_code(api, ctx, device_code, Some(client)).await;
    let created = match redeemed.map_err(|error| error.0)? {
        DeviceTokenOutcome::Token(created) => created,
        DeviceTokenOutcome::Pending(_) => return refuse("authorization_pending", "Nobody has decided yet."),
        DeviceTokenOutcome::SlowDown(_) => {
            return refuse("slow_down", "Wait five seconds longer from now on.");
        }
        DeviceTokenOutcome::Denied => return refuse("access_denied", "The login was denied."),
        DeviceTokenOutcome::Expired => {
            return refuse("expired_token", "The code is unknown, expired or used up.");
        }
        DeviceTokenOutcome::OtherClient => {
            return refuse("invalid_grant", "Another client_id started this login.");
        }
    };
    let lifetime = created.token.expires_at.map_or(TimeDelta::zero(), |end| end - ctx.now);
    Ok(Json(TokenResponse {
        access_token: created.secret.expose_secret().to_owned(),
        token_type: "Bearer",
        expires_in: lifetime.num_seconds(),
        refresh_token: None,
        scope: created.token.scopes.to_string(),
    }))
}

async fn require_known_client<'a>(api: &Api, form: &'a Parameters) -> Result<&'a str, OAuthError> {
    let id = form.require("client_id")?;
    if api.is_known_oauth_client(id).await? { Ok(id) } else { Err(OAuthError::invalid_client()) }
}

/// Returns the resource that the tokens are for, if the request names one. Any resource other than the agent server is
/// refused (RFC 8707, section 2.2), without using up the code or token.
fn audience(api: &Api, form: &Parameters) -> Result<Option<String>, OAuthError> {
    let base = &api.settings().public_url;
    match form.get("resource") {
        None => Ok(None),
        Some(resource) if is_mcp_resource(resource, base) => Ok(Some(mcp_resource_url(base))),
        Some(_) => Err(OAuthError::bad_request(
            "invalid_target",
            "resource must be the agent server of this server.",
        )),
    }
}
