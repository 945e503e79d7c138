//! Deleting an app.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::{AppRight, CanEdit};

use super::view::AppView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{conditional::IfMatch, error::ApiResult, views::Ack},
    state::Api,
};

/// Delete an app
///
/// Deletes its automations too; their queued runs fail. Runs and logs are kept as a record.
#[utoipa::path(delete, path = "/v1/apps/{id}", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app."), IfMatch), responses((status = 200, body = Ack)))]
pub(crate) async fn delete_app(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    api.transaction(unit!(|tx| {
        if_match.check(AppView::locked(tx, &api, &right)).await?;
        Ok::<_, Problem>(apps::apps::delete_app(tx, &ctx, &right).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
