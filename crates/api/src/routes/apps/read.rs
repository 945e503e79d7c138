//! Reading an app.

use application::Problem;
use axum::extract::State;
use kernel::authority::AppAccess;

use super::view::AppView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::Tagged, error::ApiResult},
    state::Api,
};

/// Read an app
#[utoipa::path(get, path = "/v1/apps/{id}", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app.")), responses((status = 200, body = AppView, headers(("ETag" = String)))))]
pub(crate) async fn read_app(
    State(api): State<Api>,
    Authorized(ctx, access): Authorized<ReadToken, AppAccess>,
) -> ApiResult<Tagged<AppView>> {
    let app = api.store().app(access.member().workspace(), access.app()).await?;
    let app = app.ok_or_else(|| Problem::not_found("app"))?;
    Ok(Tagged(AppView::read(&api, &ctx, &access, app).await?))
}
