//! Updating a row.

use axum::{
    extract::{RawQuery, Request, State},
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

/// Update a row
///
/// Fields that you do not send stay as they are.
#[utoipa::path(
    patch, path = "/v1/projects/{projectId}/rest/{table}/{id}", tag = "backend-data",
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
    request_body(
        content = Object,
        description = "Column values.",
        example = json!({"title": "Buy green tea"})
    ),
    responses(
        (status = 200, description = "The row after the change.", body = Object),
        (status = 204, description = "No body, as requested with `return=minimal`.")
    )
)]
pub(crate) async fn update_row(
    State(api): State<Api>,
    mut caller: Keyed<RowsWrite>,
    response_options: ResponseOptions,
    Path((_, table, id)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    request: Request,
) -> RestResult<Response> {
    let if_match = IfMatch::from_headers(&headers)?;
    let payload = caller.body(&api, request).await?;
    let query = query.as_deref().unwrap_or_default();
    let rows = with_if_match(&caller.rows(&api), if_match);
    let done = rows
        .update_by_id(
            caller.project_ref(),
            caller.access(),
            &table,
            &id,
            query,
            payload.json_text()?,
            &response_options.write_options(),
        )
        .await;
    let written = done.map_err(|error| caller.map_error(error))?;
    let has_tag = caller.writes_as_it_reads() && response_options.has_whole_rows(query);
    Ok(response_options.changed_row_response(written, has_tag))
}
