//! Deleting rows by filters.

use axum::{
    extract::{RawQuery, State},
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

/// Delete all rows that match the filters
///
/// At least one filter is required; to delete all rows, send `id=not.is.null`. Filters are those of listing rows.
/// `order` orders the response; with `limit` (and `offset`), only the first rows of that order are deleted. With
/// `Prefer: handling=strict, max-affected=N`, nothing is deleted if there are more rows.
#[utoipa::path(
    delete, path = "/v1/projects/{projectId}/rest/{table}", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        (
            "Prefer" = Option<String>,
            Header,
            description = "`return=minimal` for a response without rows, `count=exact` for a `Content-Range` with their number."
        )
    ),
    responses(
        (status = 200, description = "The deleted rows.", body = Vec<Object>),
        (status = 204, description = "No body, as requested with `return=minimal`.")
    )
)]
pub(crate) async fn delete_rows(
    State(api): State<Api>,
    caller: Keyed<RowsWrite>,
    response_options: ResponseOptions,
    Path((_, table)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> RestResult<Response> {
    let query = query.as_deref().unwrap_or_default();
    let rows = api.rows();
    let done = rows
        .delete(caller.project_ref(), caller.access(), &table, query, &response_options.write_options())
        .await;
    Ok(response_options.change_response(done.map_err(|error| caller.map_error(error))?))
}
