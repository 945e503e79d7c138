//! Adding an index, with a project key.

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
};
use backend_data::NewIndex;
use serde_json::json;

use super::{
    RestResult,
    caller::{Keyed, SchemaWrite},
};
use crate::{
    http::{extract::Path, schemas, table_view::TableView},
    state::Api,
};

/// Add an index to a table
///
/// With an index, the cost of filters and orders on its columns does not grow with the number of rows. Writes wait
/// until the index is built.
#[utoipa::path(
    post, path = "/v1/projects/{projectId}/schema/tables/{table}/indexes", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table.")
    ),
    request_body(
        content = schemas::backend_data::NewIndex,
        example = json!({"columns": ["title"], "unique": true})
    ),
    responses((status = 201, body = TableView))
)]
pub(crate) async fn add_index(
    State(api): State<Api>,
    mut caller: Keyed<SchemaWrite>,
    Path((_, table)): Path<(String, String)>,
    request: Request,
) -> RestResult<(StatusCode, Json<TableView>)> {
    let input: NewIndex = caller.body(&api, request).await?.json()?;
    let columns = input.columns.clone();
    let rows =
        api.audited_rows([caller.audit("index.add", json!({ "table": table, "columns": columns }))])?;
    let changed = caller
        .with_storage_limit(&rows)
        .add_index(caller.project_ref(), caller.access(), &table, input)
        .await;
    let mut table = changed.map_err(|error| caller.map_error(error))?;
    // Policies are shown only in the console.
    table.rules.clear();
    api.deliver_outbox(caller.project_ref()).await;
    Ok((StatusCode::CREATED, Json(table.into())))
}
