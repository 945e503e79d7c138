//! Revoking the presented token.

use axum::{Json, extract::State};
use kernel::{Caller, Problem};

use crate::{envelope::ApiResult, extract::Ctx, routes::Done, state::Api};

/// Revoke the presented token at once
#[utoipa::path(delete, path = "/v1/tokens/self", tag = "tokens", responses((status = 200, body = Done)))]
pub(crate) async fn revoke_own_token(State(api): State<Api>, ctx: Ctx) -> ApiResult<Json<Done>> {
    let Caller::Token(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let mut tx = api.store().begin().await?;
    identity::tokens::revoke_token(&mut *tx, &ctx, caller.workspace, caller.user, caller.token).await?;
    tx.commit().await?;
    Ok(Json(Done::OK))
}
