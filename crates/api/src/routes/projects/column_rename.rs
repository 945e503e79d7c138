//! Renaming a column.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use backend_data::Access;
use projects::{ProjectRight, access::Edit};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{audit_entry, project_ref, table_precondition::with_column_if_match};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::IfMatch,
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
        table_view::{TableView, column_tag},
    },
    state::Api,
};
use application::rows_problem;

/// Fields of a column that can be changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeColumn {
    /// New name of the column.
    #[schema(value_type = schemas::backend_data::ColumnName)]
    name: String,
}

/// Rename a column of a table of a backend project
///
/// The policy and the indexes of the table follow. Programs that read or write the column by its old name fail.
#[utoipa::path(
    patch, path = "/v1/backend/projects/{projectId}/tables/{table}/columns/{column}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("column" = schemas::backend_data::ColumnName, Path, description = "The column."),
        IfMatch
    ),
    request_body(content = ChangeColumn, example = json!({"name": "heading"})),
    responses((status = 200, body = TableView))
)]
pub(crate) async fn rename_project_column(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table, column)): Path<(String, String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Response> {
    let input: ChangeColumn = payload.json()?;
    let project_ref = project_ref(&api, &right).await?;
    let detail = json!({ "table": table, "column": column, "name": input.name });
    let rows = api.audited_rows([audit_entry(&ctx, "column.rename", &right, detail)])?;
    let rows = with_column_if_match(&rows, if_match, &column);
    let changed = rows.rename_column(&project_ref, &Access::Owner, &table, &column, &input.name).await;
    let table = changed.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    let tag = column_tag(&table, &input.name)?;
    let mut response = Json(TableView::tagged(table)?).into_response();
    if let Some(tag) = tag {
        tag.insert_into(&mut response);
    }
    Ok(response)
}
