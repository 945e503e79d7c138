//! A client gives a token back (RFC 7009).

use axum::{
    Json,
    extract::{Request, State},
};
use identity::oauth::grants::revoke_presented;
use serde_json::{Value, json};

use super::{error::Refusal, form::Parameters};
use crate::{agents::visit, state::Api};

pub(super) async fn revoke(State(api): State<Api>, request: Request) -> Result<Json<Value>, Refusal> {
    let ctx = visit(&api, request.extensions(), 2)?;
    let form = Parameters::take(request).await?;
    let token = form.need("token")?;
    let client_id = form.need("client_id")?;
    let mut tx = api.store().begin().await?;
    revoke_presented(&mut *tx, &ctx, &api.services.peppers, client_id, token).await?;
    tx.commit().await?;
    // The same for a token that is not known, or another client's.
    Ok(Json(json!({})))
}
