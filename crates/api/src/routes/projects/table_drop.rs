//! Dropping a table.

use axum::{Json, extract::State};
use backend_data::Access;
use projects::{ProjectRight, access::Edit};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{audit_entry, project_ref, table_precondition::with_table_if_match};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::IfMatch,
        error::ApiResult,
        extract::{Path, Payload},
        schemas,
        table_view::table_tag,
        views::Ack,
    },
    state::Api,
};
use application::{Problem, rows_problem};

/// Confirmation of the drop.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DropTable {
    /// The table's name.
    #[serde(default)]
    #[schema(value_type = Option<schemas::backend_data::TableName>)]
    confirm_name: Option<String>,
    /// The table's name: another name of `confirmName`, for clients that know only this one.
    #[serde(default)]
    #[schema(value_type = Option<schemas::backend_data::TableName>)]
    confirm: Option<String>,
}

/// Drop a table and its rows
#[utoipa::path(
    delete, path = "/v1/backend/projects/{projectId}/tables/{table}", tag = "backend-console",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        IfMatch
    ),
    request_body(content = DropTable, example = json!({"confirmName": "notes"})),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn drop_project_table(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Edit>>,
    Path((_, table)): Path<(String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Json<Ack>> {
    let project_ref = project_ref(&api, &right).await?;
    let tables = api.rows().schema(&project_ref, &Access::Owner).await.map_err(rows_problem)?;
    let known = tables.iter().find(|known| known.name == table);
    let known = known.ok_or_else(|| Problem::not_found("table"))?;
    if !if_match.permits(&table_tag(known)?) {
        return Err(Problem::changed_meanwhile().into());
    }
    let input: DropTable = payload.json()?;
    // With both, both must be right.
    let confirmed = [&input.confirm_name, &input.confirm].into_iter().flatten();
    if confirmed.clone().next().is_none() || confirmed.into_iter().any(|name| *name != table) {
        return Err(Problem::invalid_field("confirmName", "must be the table's name").into());
    }
    let rows = api.audited_rows([audit_entry(&ctx, "table.drop", &right, json!({ "table": table }))])?;
    let rows = with_table_if_match(&rows, if_match);
    rows.drop_table(&project_ref, &Access::Owner, &table).await.map_err(rows_problem)?;
    api.deliver_outbox(&project_ref).await;
    Ok(Json(Ack::OK))
}
