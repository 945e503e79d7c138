//! Deleting a row, for the console.

use axum::{extract::State, http::StatusCode, response::Response};
use backend_data::{Access, WriteOptions};
use projects::{ProjectRight, access::Edit};
use serde_json::json;

use super::{audit_entry, project_ref};
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Path, schemas},
    routes::rest::{response_options::json_response, row_tag::with_if_match},
    state::Api,
};
use application::rows_problem;

/// Delete a row of a backend project's table
///
/// The response is the row before it was deleted.
#[utoipa::path(
    delete, path = "/v1/backend/projects/{projectId}/tables/{table}/rows/{id}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("id" = String, Path, description = "The row's id."),
        IfMatch
    ),
    responses((status = 200, description = "The deleted row.", body = Object))
)]
pub(crate) async fn delete_project_row(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table, id)): Path<(String, String, String)>,
    if_match: IfMatch,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &right).await?;
    let rows =
        api.audited_rows([audit_entry(&ctx, "row.delete", &right, json!({ "table": table, "row": id }))])?;
    let options = WriteOptions::default();
    let rows = with_if_match(&rows, if_match);
    let written = rows.delete_by_id(&project_ref, &Access::Owner, &table, &id, "", &options).await;
    let written = written.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok(json_response(StatusCode::OK, written.body))
}
