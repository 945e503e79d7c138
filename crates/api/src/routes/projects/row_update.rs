//! Updating a row, for the console.

use axum::{extract::State, response::Response};
use backend_data::{Access, WriteOptions};
use projects::{ProjectRight, access::Edit};
use serde_json::json;

use super::{audit_entry, project_ref};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::IfMatch,
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
    },
    routes::rest::row_tag::{tagged_row, with_if_match},
    state::Api,
};
use application::rows_problem;

/// Update a row of a backend project's table
///
/// Fields that you do not send stay as they are.
#[utoipa::path(
    patch, path = "/v1/backend/projects/{projectId}/tables/{table}/rows/{id}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("id" = String, Path, description = "The row's id."),
        IfMatch
    ),
    request_body(
        content = Object,
        description = "Column values.",
        example = json!({"title": "Another title"})
    ),
    responses((status = 200, description = "The row after the change.", body = Object))
)]
pub(crate) async fn update_project_row(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table, id)): Path<(String, String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &right).await?;
    let rows =
        api.audited_rows([audit_entry(&ctx, "row.update", &right, json!({ "table": table, "row": id }))])?;
    let rows = rows.with_storage_limit(Some(api.max_stored_bytes(right.member().workspace()).await?));
    let rows = with_if_match(&rows, if_match);
    let options = WriteOptions::default();
    let body = payload.json_text()?;
    let written = rows.update_by_id(&project_ref, &Access::Owner, &table, &id, "", body, &options).await;
    let written = written.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok(tagged_row(written.body))
}
