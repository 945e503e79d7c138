//! One app.

use axum::{Json, extract::State};
use kernel::Problem;

use super::view::AppView;
use crate::{
    auth::Ctx,
    http::{error::ApiResult, extract::Path},
    state::Api,
};

/// Read an app
#[utoipa::path(get, path = "/v1/apps/{id}", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app.")), responses((status = 200, body = AppView)))]
pub(crate) async fn read_app(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
) -> ApiResult<Json<AppView>> {
    let access = api.app(&ctx, &id).await?;
    let app = api.store().app(access.member().workspace(), access.app()).await?;
    let app = app.ok_or_else(|| Problem::not_found("app"))?;
    Ok(Json(AppView::of(&api, app, access.rights())))
}
