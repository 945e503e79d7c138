//! Dynamic registration of clients (RFC 7591).

use application::unit;
use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
};
use identity::oauth::{
    RedirectUri,
    clients::{ClientMetadata, InvalidClientMetadata, register_client},
};
use kernel::Context;
use serde_json::{Value, json};

use super::{error::OAuthError, token::REGISTERED_GRANT_TYPES};
use crate::{auth::agent::public_context, http::extract::read_anonymous_body, state::Api};

/// Maximum length of a registration in bytes.
const MAX_REGISTRATION_BYTES: usize = 16 << 10;

pub(super) async fn register(
    State(api): State<Api>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), OAuthError> {
    let ctx: Context = public_context(&api, request.extensions(), 2)?;
    let body = read_anonymous_body(request, MAX_REGISTRATION_BYTES).await?;
    let Ok(Value::Object(members)) = serde_json::from_slice(&body) else {
        return Err(OAuthError::bad_request("invalid_client_metadata", "The body must be a JSON object."));
    };
    let metadata = ClientMetadata::parse(&members).map_err(|error| {
        let code = match error {
            InvalidClientMetadata::Redirects(_) => "invalid_redirect_uri",
            InvalidClientMetadata::Other(_) => "invalid_client_metadata",
        };
        OAuthError::bad_request(code, error.to_string())
    })?;
    let client = api.transaction(unit!(|tx| register_client(tx, &ctx, metadata.clone()).await)).await?;
    let redirects: Vec<&str> = client.redirect_uris.iter().map(RedirectUri::as_str).collect();
    // Requested metadata that is not supported is replaced: no client has a secret.
    let mut answer = json!({
        "client_id": client.snapshot.id,
        "client_id_issued_at": ctx.now.timestamp(),
        "client_name": client.snapshot.name,
        "redirect_uris": redirects,
        "grant_types": REGISTERED_GRANT_TYPES,
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    if let (Some(uri), Some(_)) = (members.get("client_uri"), &client.homepage_host) {
        answer["client_uri"] = uri.clone();
    }
    Ok((StatusCode::CREATED, Json(answer)))
}
