//! Rows from a file.

use axum::{
    Json,
    extract::{Request, State},
};
use backend_data::Access;
use projects::access::Edit;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::{audit, place};
use crate::{
    envelope::ApiResult,
    extract::{Ctx, Params, Path, Payload},
    routes::rest_problem,
    state::Api,
};

/// The most a file may have.
const MAX_FILE: usize = 8 << 20;

/// How.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportRows {
    /// Check every row and write none.
    #[serde(default)]
    check: bool,
}

/// What an import did.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Imported {
    /// How many rows the file holds.
    rows: u64,
    /// How many of them were added: all, or none where they were only checked.
    imported: u64,
}

/// Import rows into a backend project's table
///
/// From CSV, whose first line names the columns, or a JSON array; up to 5,000 rows and 8 MiB. All are added or none is, and
/// the refusal names the first row that does not fit.
#[utoipa::path(post, path = "/v1/backend/projects/{projectId}/tables/{table}/import", tag = "backend-console",
    params(("projectId", description = "The project."), ("table", description = "The table."), ImportRows),
    request_body(content((String = "text/csv"), (Vec<Object> = "application/json"))),
    responses((status = 200, body = Imported)))]
pub(crate) async fn import_project_rows(
    State(api): State<Api>,
    ctx: Ctx,
    Path((project, table)): Path<(String, String)>,
    Params(input): Params<ImportRows>,
    request: Request,
) -> ApiResult<Json<Imported>> {
    let right = api.project(&ctx, &project).await?.require::<Edit>()?;
    let place = place(&api, &right).await?;
    let payload = Payload::take(request, MAX_FILE).await?;
    let (body, csv) = (payload.rows_text()?, payload.is_csv());
    let done = api.services.rows.import(&place, &Access::Owner, &table, body, csv, input.check).await;
    let rows = done.map_err(rest_problem)?;
    if input.check {
        return Ok(Json(Imported { rows, imported: 0 }));
    }
    api.note(audit(&ctx, "row.import", &right, json!({ "table": table, "rows": rows }))).await?;
    Ok(Json(Imported { rows, imported: rows }))
}
