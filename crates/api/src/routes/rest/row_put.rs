//! Inserting or updating a row by its id.

use axum::{
    extract::{RawQuery, Request, State},
    response::Response,
};

use super::{
    RestResult,
    caller::{Keyed, RowsWrite},
    response_options::ResponseOptions,
};
use crate::{
    http::{extract::Path, schemas},
    state::Api,
};

/// Insert or update a row by its id
///
/// The query has the row's id, as in `id=eq.tea`, and optionally `select`. The effect is that of an insert with
/// `Prefer: resolution=merge-duplicates`: columns of an existing row that you do not send stay as they are.
#[utoipa::path(
    put, path = "/v1/projects/{projectId}/rest/{table}", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("id" = String, Query, description = "`eq.` and the id of the row."),
        ("Prefer" = Option<String>, Header, description = "`return=minimal` for a response without rows.")
    ),
    request_body(
        content = Object,
        description = "Column values; an `id` among them must be that of the query.",
        example = json!({"title": "Buy tea"})
    ),
    responses(
        (status = 200, description = "The row after the change.", body = Vec<Object>),
        (status = 201, description = "The new row.", body = Vec<Object>),
        (status = 204, description = "Updated. No body, as requested with `return=minimal`.")
    )
)]
pub(crate) async fn put_row(
    State(api): State<Api>,
    mut caller: Keyed<RowsWrite>,
    response_options: ResponseOptions,
    Path((_, table)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    request: Request,
) -> RestResult<Response> {
    let payload = caller.body(&api, request).await?;
    let query = query.as_deref().unwrap_or_default();
    let rows = caller.rows(&api);
    let done = rows
        .put(
            caller.project_ref(),
            caller.access(),
            &table,
            query,
            payload.json_text()?,
            &response_options.write_options(),
        )
        .await;
    Ok(response_options.put_response(done.map_err(|error| caller.map_error(error))?))
}
