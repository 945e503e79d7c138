//! Deleting a draft.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::{AppRight, CanEdit};

use super::view::DraftView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{conditional::IfMatch, error::ApiResult, views::Ack},
    state::Api,
};

/// Delete your draft of an app
#[utoipa::path(
    delete, path = "/v1/apps/{id}/draft", tag = "apps",
    params(("id" = kernel::id::AppId, Path, description = "The app."), IfMatch),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn delete_draft(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    api.transaction(unit!(|tx| {
        if_match.check(DraftView::locked(tx, &right, ctx.now)).await?;
        Ok::<_, Problem>(apps::drafts::delete_draft(tx, &ctx, &right).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
