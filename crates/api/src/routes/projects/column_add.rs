//! Adding a column.

use axum::{Json, extract::State, http::StatusCode};
use backend_data::{Access, NewColumn};
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

/// Add a column to a table of a backend project
///
/// A column that is not nullable can be added only to an empty table.
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/tables/{table}/columns", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table.")
    ),
    request_body(
        content = schemas::backend_data::NewColumn,
        example = json!({"name": "price", "type": "real", "nullable": true})
    ),
    responses((status = 201, body = TableView))
)]
pub(crate) async fn add_project_column(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<(StatusCode, Json<TableView>)> {
    let input: NewColumn = payload.json()?;
    let column = input.name.clone();
    let project_ref = project_ref(&api, &right).await?;
    let rows = api.audited_rows([audit_entry(
        &ctx,
        "column.add",
        &right,
        json!({ "table": table, "column": column }),
    )])?;
    let changed = rows.add_column(&project_ref, &Access::Owner, &table, input).await;
    let table = changed.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok((StatusCode::CREATED, Json(TableView::tagged(table)?)))
}
