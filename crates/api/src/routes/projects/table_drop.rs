//! Dropping a table.

use axum::{Json, extract::State};
use backend_data::Access;
use projects::{ProjectRight, access::Edit};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{audit_entry, project_ref};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
        views::Ack,
    },
    state::Api,
};
use application::{Problem, rows_problem};

/// Confirmation of the drop.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DropTable {
    /// The table's name.
    #[schema(value_type = schemas::backend_data::TableName)]
    confirm: String,
}

/// Drop a table and its rows
#[utoipa::path(
    delete, path = "/v1/backend/projects/{projectId}/tables/{table}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table.")
    ),
    request_body(content = DropTable, example = json!({"confirm": "notes"})),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn drop_project_table(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<Json<Ack>> {
    let project_ref = project_ref(&api, &right).await?;
    let tables = api.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
    if !tables.iter().any(|known| known.name == table) {
        return Err(Problem::not_found("table").into());
    }
    let input: DropTable = payload.json()?;
    if input.confirm != table {
        return Err(Problem::invalid_field("confirm", "must be the table's name").into());
    }
    let rows = api.audited_rows([audit_entry(&ctx, "table.drop", &right, json!({ "table": table }))])?;
    rows.drop_table(&project_ref, &Access::Owner, &table).await.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok(Json(Ack::OK))
}
