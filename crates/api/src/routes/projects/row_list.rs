//! Listing rows, for the console.

use axum::{
    extract::{RawQuery, State},
    response::Response,
};
use backend_data::Access;
use projects::ProjectAccess;

use super::project_ref;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path, schemas},
    routes::rest::response_options::ResponseOptions,
    state::Api,
};
use application::rows_problem;

/// List rows of a backend project's table
///
/// Everybody who can view the project can read all of its rows. The query language and the headers are those of the
/// data API. With `Prefer: count=exact`, `Content-Range` has the number of rows.
#[utoipa::path(
    get, path = "/v1/backend/projects/{projectId}/tables/{table}/rows", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("Prefer" = Option<String>, Header, description = "`count=exact` to count all rows."),
        ("Range" = Option<String>, Header, description = "The first and last row, such as `0-24`.")
    ),
    responses(
        (status = 200, description = "Rows, each an object of column values.", body = Vec<Object>),
        (status = 206, description = "A part of the rows, with their total number.", body = Vec<Object>)
    )
)]
pub(crate) async fn list_project_rows(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<Console, ProjectAccess>,
    response_options: ResponseOptions,
    Path((_, table)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &access).await?;
    let query = query.as_deref().unwrap_or_default();
    let page =
        api.rows().list(&project_ref, &Access::Owner, &table, query, &response_options.read_options()).await;
    Ok(response_options.page_response(page.map_err(rows_problem)?))
}
