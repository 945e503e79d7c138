//! Discarding an import.

use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::ImportId,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ImportView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// An empty object.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiscardImport {}

/// Discard an import
///
/// Removes the app and the automation of an import that was never turned on.
#[utoipa::path(
    post, path = "/v1/imports/{id}/discard", tag = "imports",
    params(("id" = kernel::id::ImportId, Path, description = "The import.")),
    request_body(content = DiscardImport, example = json!({})),
    responses((status = 200, body = ImportView))
)]
pub(crate) async fn discard_import(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (ImportId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ImportView>> {
    let DiscardImport {} = payload.json()?;
    let import = api.discard_import(&ctx, &right, id).await?;
    let context = api.import_context(&ctx, right.member(), &import.report).await?;
    Ok(Json(ImportView::of(import, context)))
}
