//! Making an index.

use axum::{Json, extract::State, http::StatusCode};
use backend_data::{Access, NewIndex, Table};
use projects::access::Edit;
use serde_json::json;

use super::{audit, place};
use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path, Payload},
    routes::rest_problem,
    state::Api,
};

/// Make an index of a table of a backend project
///
/// Filters and orders on its columns then cost the same however many rows there are. Writers wait until it stands.
#[utoipa::path(post, path = "/v1/backend/projects/{projectId}/tables/{table}/indexes", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), ("table" = backend_data::TableName, Path, description = "The table.")), request_body(content = NewIndex, example = json!({"columns": ["title"], "unique": true})), responses((status = 201, body = Table)))]
pub(crate) async fn add_project_index(
    State(api): State<Api>,
    ctx: Ctx,
    Path((project, table)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<(StatusCode, Json<Table>)> {
    let right = api.project(&ctx, &project).await?.require::<Edit>()?;
    let input: NewIndex = payload.json()?;
    let columns = input.columns.clone();
    let place = place(&api, &right).await?;
    let rows =
        api.recording([audit(&ctx, "index.add", &right, json!({ "table": table, "columns": columns }))])?;
    let rows = rows.within(Some(api.max_stored(right.member().workspace()).await?));
    let changed = rows.add_index(&place, &Access::Owner, &table, input).await;
    let table = changed.map_err(rest_problem)?;
    api.deliver(&place).await;
    Ok((StatusCode::CREATED, Json(table)))
}
