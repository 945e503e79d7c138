//! Reading the current session.

use application::Problem;
use axum::{Json, extract::State};
use kernel::Caller;

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, views::SessionView},
    state::Api,
};

/// Read the current session
#[utoipa::path(get, path = "/v1/session", tag = "session", responses((status = 200, body = SessionView)))]
pub(crate) async fn read_session(State(api): State<Api>, ctx: Ctx<Console>) -> ApiResult<Json<SessionView>> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    Ok(Json(SessionView::of(&api, session, None, ctx.now).await?))
}
