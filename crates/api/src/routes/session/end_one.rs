//! Ending another session.

use application::{Problem, unit};
use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use kernel::Caller;

use crate::{
    auth::{Console, Ctx, with_session_cookie},
    http::{error::ApiResult, extract::Path, views::Ack},
    state::Api,
};

/// End one of your sessions
#[utoipa::path(delete, path = "/v1/me/sessions/{id}", tag = "session", params(("id" = kernel::id::SessionId, Path, description = "The session.")), responses((status = 200, body = Ack)))]
pub(crate) async fn end_one_session(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Path(id): Path<String>,
) -> ApiResult<Response> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let session = id.parse().map_err(|_| Problem::not_found("session"))?;
    api.transaction(unit!(|tx| identity::sessions::end_one_session(tx, &ctx, caller, session).await)).await?;
    if session == caller.session {
        return Ok(with_session_cookie(&api, None, Json(Ack::OK))?);
    }
    Ok(Json(Ack::OK).into_response())
}
