//! Sign-in with a code or link by e-mail, and for development.

mod dev_login;
mod email_link;
pub(crate) mod email_start;
pub(crate) mod email_verify;
mod methods;

use axum::{Json, response::Response};
use identity::sessions::OpenedSession;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    auth::with_session_cookie,
    http::{error::ApiResult, views::SessionView},
    state::Api,
};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(email_start::start_email_sign_in, cost = 5))
        .routes(op!(email_verify::verify_email_sign_in, cost = 5))
        .routes(op!(email_link::follow_email_link, cost = 5))
        .routes(op!(dev_login::sign_in_without_proof, cost = 5))
        .routes(op!(methods::list_sign_in_methods))
}

/// Returns the response to a successful sign-in: the session, and its cookie.
pub(crate) async fn signed_in_response(
    api: &Api,
    ctx: &kernel::Context,
    opened: &OpenedSession,
) -> ApiResult<Response> {
    let caller = opened.session.caller(ctx.now).ok_or_else(application::Problem::unauthorized)?;
    let session = SessionView::of(api, &caller, Some(&opened.user), ctx.now).await?;
    Ok(with_session_cookie(api, Some(&opened.secret), Json(session))?)
}
