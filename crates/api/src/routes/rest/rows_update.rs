//! Updating rows by filters.

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

/// Update all rows that match the filters
///
/// At least one filter is required; to update all rows, send `id=not.is.null`. Filters are those of listing rows.
/// `order` orders the response; with `limit` (and `offset`), only the first rows of that order change. With
/// `Prefer: handling=strict, max-affected=N`, nothing changes if there are more rows.
#[utoipa::path(
    patch, path = "/v1/projects/{projectId}/rest/{table}", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        (
            "Prefer" = Option<String>,
            Header,
            description = "`return=minimal` for a response without rows, `count=exact` for a `Content-Range` with their number."
        )
    ),
    request_body(
        content = Object,
        description = "Column values.",
        example = json!({"title": "Buy green tea"})
    ),
    responses(
        (status = 200, description = "The rows after the change.", body = Vec<Object>),
        (status = 204, description = "No body, as requested with `return=minimal`.")
    )
)]
pub(crate) async fn update_rows(
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
        .update(
            caller.project_ref(),
            caller.access(),
            &table,
            query,
            payload.json_text()?,
            &response_options.write_options(),
        )
        .await;
    Ok(response_options.update_response(done.map_err(|error| caller.map_error(error))?))
}
