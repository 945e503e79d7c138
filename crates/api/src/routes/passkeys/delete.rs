//! Deleting a passkey.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::Caller;

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Path, views::Ack},
    state::Api,
};

/// Delete one of your passkeys
///
/// Requires a step-up.
#[utoipa::path(delete, path = "/v1/me/passkeys/{id}", tag = "passkeys", params(("id" = kernel::id::PasskeyId, Path, description = "The passkey.")), responses((status = 200, body = Ack)))]
pub(crate) async fn delete_passkey(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Path(id): Path<String>,
) -> ApiResult<Json<Ack>> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let passkey = id.parse().map_err(|_| Problem::not_found("passkey"))?;
    let fresh = api.require_step_up(&ctx).await?;
    api.transaction(unit!(
        |tx| identity::passkeys::delete_passkey(tx, &ctx, &fresh, caller.user, passkey).await
    ))
    .await?;
    Ok(Json(Ack::OK))
}
