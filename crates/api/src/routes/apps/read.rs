//! Reading an app.

use application::Problem;
use axum::{extract::State, response::Response};
use kernel::authority::AppAccess;

use super::view::AppView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::IfNoneMatch, error::ApiResult},
    state::Api,
};

/// Read an app
#[utoipa::path(get, path = "/v1/apps/{id}", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app."), IfNoneMatch), responses((status = 200, body = AppView)))]
pub(crate) async fn read_app(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<ReadToken, AppAccess>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let app = api.store().app(access.member().workspace(), access.app()).await?;
    let app = app.ok_or_else(|| Problem::not_found("app"))?;
    Ok(known.respond(AppView::of(&api, app, access.rights()))?)
}
