//! Dropping an index.

use axum::{Json, extract::State};
use backend_data::Access;
use projects::{ProjectRight, access::Edit};
use serde_json::json;

use super::{audit_entry, project_ref, table_precondition::with_table_if_match};
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Path, schemas, table_view::TableView},
    state::Api,
};
use application::rows_problem;

/// Drop an index of a table of a backend project
#[utoipa::path(
    delete, path = "/v1/backend/projects/{projectId}/tables/{table}/indexes/{index}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("index" = String, Path, description = "The index's name."),
        IfMatch
    ),
    responses((status = 200, body = TableView))
)]
pub(crate) async fn drop_project_index(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table, index)): Path<(String, String, String)>,
    if_match: IfMatch,
) -> ApiResult<Json<TableView>> {
    let project_ref = project_ref(&api, &right).await?;
    let rows = api.audited_rows([audit_entry(
        &ctx,
        "index.drop",
        &right,
        json!({ "table": table, "index": index }),
    )])?;
    let rows = with_table_if_match(&rows, if_match);
    let changed = rows.drop_index(&project_ref, &Access::Owner, &table, &index).await;
    let table = changed.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok(Json(TableView::tagged(table)?))
}
