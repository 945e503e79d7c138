//! Reading an import.

use axum::{extract::State, response::Response};
use imports::imports::Import;
use kernel::authority::Member;

use super::view::ImportView;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfNoneMatch, error::ApiResult},
    state::Api,
};

/// Read an import
///
/// You can read imports that you made; an admin can read all.
#[utoipa::path(
    get, path = "/v1/imports/{id}", tag = "imports",
    params(("id" = kernel::id::ImportId, Path, description = "The import."), IfNoneMatch),
    responses((status = 200, body = ImportView))
)]
pub(crate) async fn read_import(
    State(api): State<Api>,
    Authorized(ctx, (import, member)): Authorized<Console, (Import, Member)>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let context = api.import_context(&ctx, &member, &import.report).await?;
    Ok(known.respond(ImportView::of(import, context))?)
}
