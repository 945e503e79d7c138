//! Reading a row, for the console.

use axum::{extract::State, http::StatusCode, response::Response};
use backend_data::{Access, Format};
use projects::ProjectAccess;

use super::project_ref;
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{EntityTag, IfNoneMatch},
        error::ApiResult,
        extract::Path,
        schemas,
    },
    routes::rest::response_options::json_response,
    state::Api,
};
use application::rows_problem;

/// Read a row of a backend project's table
///
/// The row has all of its columns. To change only what you have seen, send its `ETag` with the change, in `If-Match`.
#[utoipa::path(
    get, path = "/v1/backend/projects/{projectId}/tables/{table}/rows/{id}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("id" = String, Path, description = "The row's id."),
        IfNoneMatch
    ),
    responses((status = 200, description = "The row.", body = Object))
)]
pub(crate) async fn read_project_row(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<Console, ProjectAccess>,
    Path((_, table, id)): Path<(String, String, String)>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &access).await?;
    let row = api.rows().get(&project_ref, &Access::Owner, &table, &id, "", Format::Json).await;
    let row = row.map_err(rows_problem)?.body;
    Ok(known.unless_known(&EntityTag::of_bytes(&row), || json_response(StatusCode::OK, row.clone())))
}
