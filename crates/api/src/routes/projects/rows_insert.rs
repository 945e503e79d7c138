//! Inserting rows, for the console.

use axum::{extract::State, http::StatusCode, response::Response};
use backend_data::{Access, WriteOptions};
use projects::{ProjectRight, access::Edit};
use serde_json::json;

use super::{audit_entry, project_ref};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
    },
    routes::rest::response_options::json_response,
    state::Api,
};
use application::rows_problem;

/// Insert rows into a backend project's table
///
/// Inserts one row or up to 500: either all or none.
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/tables/{table}/rows", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table.")
    ),
    request_body(
        content = crate::http::openapi::RowOrRows,
        description = "A row, or an array of rows.",
        example = json!({"id": "tea", "title": "Buy tea"})
    ),
    responses((status = 201, description = "The inserted rows.", body = Vec<Object>))
)]
pub(crate) async fn insert_project_rows(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<Response> {
    let project_ref = project_ref(&api, &right).await?;
    let rows = api.audited_rows([audit_entry(&ctx, "row.insert", &right, json!({ "table": table }))])?;
    let rows = rows.with_storage_limit(Some(api.max_stored_bytes(right.member().workspace()).await?));
    let options = WriteOptions::default();
    let written = rows.insert(&project_ref, &Access::Owner, &table, "", payload.json_text()?, &options).await;
    let written = written.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok(json_response(StatusCode::CREATED, written.body))
}
