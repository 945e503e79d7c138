//! Ending all other sessions, or all of them.

use application::{Problem, unit};
use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use kernel::Caller;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    auth::{Console, Ctx, with_session_cookie},
    http::{error::ApiResult, extract::Params, views::Ack},
    state::Api,
};

/// Sessions to end.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EndSessionsQuery {
    /// `true` to end this session too.
    #[serde(default)]
    all: bool,
}

/// Sign out everywhere else
///
/// With `all=true`, you are signed out here too.
#[utoipa::path(delete, path = "/v1/me/sessions", tag = "session", params(EndSessionsQuery), responses((status = 200, body = Ack)))]
pub(crate) async fn end_other_sessions(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Params(which): Params<EndSessionsQuery>,
) -> ApiResult<Response> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    api.transaction(unit!(|tx| identity::sessions::end_other_sessions(tx, &ctx, caller, which.all).await))
        .await?;
    if which.all {
        return Ok(with_session_cookie(&api, None, Json(Ack::OK))?);
    }
    Ok(Json(Ack::OK).into_response())
}
