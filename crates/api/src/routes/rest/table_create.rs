//! Creating a table, with a project key.

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
};
use backend_data::NewTable;
use serde_json::json;

use super::{
    RestResult,
    caller::{Keyed, SchemaWrite},
};
use crate::{
    http::{schemas, table_view::TableView},
    state::Api,
};

/// Create a table
///
/// The columns `id` and `created_at` are added. The table is private by default. To let anybody read it, set
/// `publicRead` and repeat the table's name in `confirmPublic`.
#[utoipa::path(
    post, path = "/v1/projects/{projectId}/schema/tables", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key.")),
    request_body(
        content = schemas::backend_data::NewTable,
        example = json!({
            "name": "orders",
            "columns": [
                {"name": "title", "type": "text"},
                {"name": "price", "type": "real", "nullable": true},
                {"name": "paid", "type": "boolean", "nullable": false}
            ]
        })
    ),
    responses((status = 201, body = TableView))
)]
pub(crate) async fn create_table(
    State(api): State<Api>,
    mut caller: Keyed<SchemaWrite>,
    request: Request,
) -> RestResult<(StatusCode, Json<TableView>)> {
    let input: NewTable = caller.body(&api, request).await?.json()?;
    let detail = json!({ "table": input.name, "public": input.public_read });
    let rows = api.audited_rows([caller.audit("table.create", detail)])?;
    let made = rows.create_table(caller.project_ref(), caller.access(), input).await;
    let table = made.map_err(|error| caller.map_error(error))?;
    api.deliver_outbox(caller.project_ref()).await;
    Ok((StatusCode::CREATED, Json(table.into())))
}
