//! Adding an index.

use axum::{Json, extract::State, http::StatusCode};
use backend_data::{Access, NewIndex};
use projects::{ProjectRight, access::Edit};
use serde_json::json;

use super::{audit_entry, project_ref};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
        table_view::TableView,
    },
    state::Api,
};
use application::rows_problem;

/// Add an index to a table of a backend project
///
/// With an index, the cost of filters and orders on its columns does not grow with the number of rows. Writes wait
/// until the index is built.
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/tables/{table}/indexes", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table.")
    ),
    request_body(
        content = schemas::backend_data::NewIndex,
        example = json!({"columns": ["title"], "unique": true})
    ),
    responses((status = 201, body = TableView))
)]
pub(crate) async fn add_project_index(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<(StatusCode, Json<TableView>)> {
    let input: NewIndex = payload.json()?;
    let columns = input.columns.clone();
    let project_ref = project_ref(&api, &right).await?;
    let rows = api.audited_rows([audit_entry(
        &ctx,
        "index.add",
        &right,
        json!({ "table": table, "columns": columns }),
    )])?;
    let rows = rows.with_storage_limit(Some(api.max_stored_bytes(right.member().workspace()).await?));
    let changed = rows.add_index(&project_ref, &Access::Owner, &table, input).await;
    let table = changed.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok((StatusCode::CREATED, Json(TableView::tagged(table)?)))
}
