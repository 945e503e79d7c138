//! Dropping a column.

use axum::{Json, extract::State};
use backend_data::Access;
use projects::{ProjectRight, access::Edit};
use serde_json::json;

use super::{audit_entry, project_ref, table_precondition::with_column_if_match};
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Path, schemas, table_view::TableView},
    state::Api,
};
use application::rows_problem;

/// Drop a column of a table of a backend project and its values
///
/// A column that a rule or an index names is not dropped: the message lists them.
#[utoipa::path(
    delete, path = "/v1/backend/projects/{projectId}/tables/{table}/columns/{column}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("column" = schemas::backend_data::ColumnName, Path, description = "The column."),
        IfMatch
    ),
    responses((status = 200, body = TableView))
)]
pub(crate) async fn drop_project_column(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table, column)): Path<(String, String, String)>,
    if_match: IfMatch,
) -> ApiResult<Json<TableView>> {
    let project_ref = project_ref(&api, &right).await?;
    let detail = json!({ "table": table, "column": column });
    let rows = api.audited_rows([audit_entry(&ctx, "column.drop", &right, detail)])?;
    let rows = with_column_if_match(&rows, if_match, &column);
    let changed = rows.drop_column(&project_ref, &Access::Owner, &table, &column).await;
    let table = changed.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok(Json(TableView::tagged(table)?))
}
