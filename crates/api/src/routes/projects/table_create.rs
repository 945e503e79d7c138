//! Creating a table.

use axum::{Json, extract::State, http::StatusCode};
use backend_data::{Access, NewTable};
use projects::{ProjectRight, access::Edit};
use serde_json::json;

use super::{audit_entry, project_ref};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload, schemas, table_view::TableView},
    state::Api,
};
use application::rows_problem;

/// Create a table in a backend project
///
/// The columns `id` and `created_at` are added. The table is private by default. To let anybody read it, set `publicRead`
/// and repeat the table's name in `confirmPublic`.
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/tables", tag = "backend-console",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project.")),
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
pub(crate) async fn create_project_table(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    payload: Payload,
) -> ApiResult<(StatusCode, Json<TableView>)> {
    let input: NewTable = payload.json()?;
    let project_ref = project_ref(&api, &right).await?;
    let detail = json!({ "table": input.name, "public": input.public_read });
    let rows = api.audited_rows([audit_entry(&ctx, "table.create", &right, detail)])?;
    let made = rows.create_table(&project_ref, &Access::Owner, input).await;
    let table = made.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok((StatusCode::CREATED, Json(TableView::tagged(table)?)))
}
