//! Signing in.

mod dev_login;
mod email_link;
pub(crate) mod email_start;
mod email_verify;

use axum::{Json, response::Response};
use identity::sessions::OpenedSession;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    auth::with_session_cookie,
    http::{error::ApiResult, views::SessionView},
    state::Api,
};
use application::{Tx, membership::auto_join};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(email_start::start_email_sign_in, cost = 5))
        .routes(op!(email_verify::verify_email_sign_in, cost = 5))
        .routes(op!(email_link::follow_email_link, cost = 5))
        .routes(op!(dev_login::sign_in_without_proof, cost = 5))
}

/// Lets a person who has just signed in into the workspace of their domain, and opens the workspace that they find first
/// in their list.
pub(crate) async fn open_first_workspace(
    api: &Api,
    tx: &mut dyn Tx,
    ctx: &kernel::Context,
    opened: &mut OpenedSession,
) -> ApiResult<()> {
    let joined = auto_join(tx, ctx, &opened.user).await?;
    let workspaces = api.store().workspaces_of(opened.user.id, ctx.now).await?;
    if let Some(first) = workspaces.first().map(|first| first.id).or(joined) {
        tx.set_session_workspace(opened.session.id, first).await?;
        opened.session.workspace = Some(first);
    }
    Ok(())
}

/// What a person who has just signed in is told: their session, and its cookie.
pub(crate) async fn signed_in_response(
    api: &Api,
    ctx: &kernel::Context,
    opened: &OpenedSession,
) -> ApiResult<Response> {
    let caller = opened.session.caller(ctx.now).ok_or_else(kernel::Problem::unauthorized)?;
    let session = SessionView::of(api, &caller, Some(&opened.user), ctx.now).await?;
    Ok(with_session_cookie(api, Some(&opened.secret), Json(session))?)
}
