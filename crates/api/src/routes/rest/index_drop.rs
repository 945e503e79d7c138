//! Dropping an index, with a project key.

use axum::{Json, extract::State};
use serde_json::json;

use super::{
    RestResult,
    caller::{Keyed, SchemaWrite},
};
use crate::{
    http::{extract::Path, schemas, table_view::TableView},
    state::Api,
};

/// Drop an index of a table
#[utoipa::path(
    delete, path = "/v1/projects/{projectId}/schema/tables/{table}/indexes/{index}", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("index" = String, Path, description = "The index's name.")
    ),
    responses((status = 200, body = TableView))
)]
pub(crate) async fn drop_index(
    State(api): State<Api>,
    caller: Keyed<SchemaWrite>,
    Path((_, table, index)): Path<(String, String, String)>,
) -> RestResult<Json<TableView>> {
    let rows = api.audited_rows([caller.audit("index.drop", json!({ "table": table, "index": index }))])?;
    let changed = rows.drop_index(caller.project_ref(), caller.access(), &table, &index).await;
    let mut table = changed.map_err(|error| caller.map_error(error))?;
    table.rules.clear();
    api.deliver_outbox(caller.project_ref()).await;
    Ok(Json(table.into()))
}
