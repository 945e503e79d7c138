//! Adding a column, with a project key.

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
};
use backend_data::NewColumn;
use serde_json::json;

use super::{
    RestResult,
    caller::{Keyed, SchemaWrite},
};
use crate::{
    http::{extract::Path, schemas, table_view::TableView},
    state::Api,
};

/// Add a column to a table
///
/// A column that is not nullable can be added only to an empty table.
#[utoipa::path(
    post, path = "/v1/projects/{projectId}/schema/tables/{table}/columns", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table.")
    ),
    request_body(
        content = schemas::backend_data::NewColumn,
        example = json!({"name": "price", "type": "real", "nullable": true})
    ),
    responses((status = 201, body = TableView))
)]
pub(crate) async fn add_column(
    State(api): State<Api>,
    mut caller: Keyed<SchemaWrite>,
    Path((_, table)): Path<(String, String)>,
    request: Request,
) -> RestResult<(StatusCode, Json<TableView>)> {
    let input: NewColumn = caller.body(&api, request).await?.json()?;
    let column = input.name.clone();
    let rows = api.audited_rows([caller.audit("column.add", json!({ "table": table, "column": column }))])?;
    let changed = rows.add_column(caller.project_ref(), caller.access(), &table, input).await;
    let mut table = changed.map_err(|error| caller.map_error(error))?;
    // Policies are shown only in the console.
    table.rules.clear();
    api.deliver_outbox(caller.project_ref()).await;
    Ok((StatusCode::CREATED, Json(table.into())))
}
