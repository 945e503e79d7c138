//! Listing passkeys.

use application::Problem;
use axum::{Json, extract::State};
use kernel::Caller;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::PasskeyView;
use crate::{
    auth::{Console, Ctx},
    http::error::ApiResult,
    state::Api,
};

/// Your passkeys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PasskeyList {
    /// Oldest first.
    items: Vec<PasskeyView>,
}

/// List your passkeys
#[utoipa::path(get, path = "/v1/me/passkeys", tag = "passkeys", responses((status = 200, body = PasskeyList)))]
pub(crate) async fn list_passkeys(State(api): State<Api>, ctx: Ctx<Console>) -> ApiResult<Json<PasskeyList>> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let keys = api.store().passkeys_of(caller.user).await?;
    Ok(Json(PasskeyList { items: keys.into_iter().map(PasskeyView::from).collect() }))
}
