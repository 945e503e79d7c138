//! Signing out.

use application::{Problem, unit};
use axum::{Json, extract::State, response::Response};
use kernel::Caller;

use crate::{
    auth::{Console, Ctx, with_session_cookie},
    http::{error::ApiResult, views::Ack},
    state::Api,
};

/// Sign out
#[utoipa::path(delete, path = "/v1/session", tag = "session", responses((status = 200, body = Ack)))]
pub(crate) async fn end_session(State(api): State<Api>, ctx: Ctx<Console>) -> ApiResult<Response> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    api.transaction(unit!(|tx| identity::sessions::end_session(tx, &ctx, session.session).await)).await?;
    Ok(with_session_cookie(&api, None, Json(Ack::OK))?)
}
