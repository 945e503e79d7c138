//! Revocation of a token by its client (RFC 7009).

use application::unit;
use axum::{
    Json,
    extract::{Request, State},
};
use identity::oauth::grants::revoke_client_token;
use serde_json::{Value, json};

use super::{error::OAuthError, form::Parameters};
use crate::{auth::agent::public_context, state::Api};

pub(super) async fn revoke(State(api): State<Api>, request: Request) -> Result<Json<Value>, OAuthError> {
    let ctx = public_context(&api, request.extensions(), 2)?;
    let form = Parameters::from_form(request).await?;
    let token = form.require("token")?;
    let client_id = form.require("client_id")?;
    api.transaction(unit!(|tx| revoke_client_token(tx, &ctx, api.peppers(), client_id, token).await)).await?;
    // The response is the same if the token is unknown or another client's.
    Ok(Json(json!({})))
}
