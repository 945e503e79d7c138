//! Deleting a row.

use axum::{
    extract::{RawQuery, State},
    http::HeaderMap,
    response::Response,
};

use super::{
    RestResult,
    caller::{Keyed, RowsWrite},
    response_options::ResponseOptions,
    row_tag::with_if_match,
};
use crate::{
    http::{conditional::IfMatch, extract::Path, schemas},
    state::Api,
};

/// Delete a row
///
/// The response is the row before it was deleted.
#[utoipa::path(
    delete, path = "/v1/projects/{projectId}/rest/{table}/{id}", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("id" = String, Path, description = "The row's id."),
        IfMatch,
        (
            "Prefer" = Option<String>,
            Header,
            description = "`return=minimal` for a response without rows, `count=exact` for a `Content-Range` with their number."
        )
    ),
    responses(
        (status = 200, description = "The deleted row.", body = Object),
        (status = 204, description = "No body, as requested with `return=minimal`.")
    )
)]
pub(crate) async fn delete_row(
    State(api): State<Api>,
    caller: Keyed<RowsWrite>,
    response_options: ResponseOptions,
    Path((_, table, id)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> RestResult<Response> {
    let query = query.as_deref().unwrap_or_default();
    let rows = with_if_match(api.rows(), IfMatch::from_headers(&headers)?);
    let done = rows
        .delete_by_id(
            caller.project_ref(),
            caller.access(),
            &table,
            &id,
            query,
            &response_options.write_options(),
        )
        .await;
    Ok(response_options.change_response(done.map_err(|error| caller.map_error(error))?))
}
