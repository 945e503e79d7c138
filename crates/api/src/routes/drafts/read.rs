//! Reading a draft.

use apps::AppError;
use axum::{extract::State, response::Response};
use kernel::authority::{AppRight, CanEdit};

use super::view::DraftView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{conditional::IfNoneMatch, error::ApiResult},
    state::Api,
};

/// Read your draft of an app
///
/// Each person has at most one of an app. Nobody else sees it.
#[utoipa::path(
    get, path = "/v1/apps/{id}/draft", tag = "apps",
    params(("id" = kernel::id::AppId, Path, description = "The app."), IfNoneMatch),
    responses((status = 200, body = DraftView))
)]
pub(crate) async fn read_draft(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let member = right.member();
    let found = api.store().draft(member.workspace(), right.app(), member.user(), ctx.now).await?;
    Ok(known.respond(DraftView::from(found.ok_or(AppError::DraftNotFound)?))?)
}
