//! Adding rows.

use axum::{
    extract::{RawQuery, Request, State},
    http::Uri,
    response::Response,
};
use backend_data::WriteOptions;

use super::{
    RestResult,
    caller::{Keyed, RowsWrite},
    response_options::ResponseOptions,
};
use crate::{http::extract::Path, state::Api};

/// Insert one row or up to 500, all or nothing
///
/// `columns` names the columns to write when the rows do not all give the same ones. With
/// `Prefer: resolution=merge-duplicates` or `resolution=ignore-duplicates` a row whose `id` exists is updated or left;
/// `on_conflict` names other columns instead, of which there must be a unique index.
/// The body may be `text/csv`, its first line naming the columns. `Prefer: return=headers-only` answers with the
/// address of a row alone. `order` orders the rows of the answer, which come as they were sent otherwise. A merge that makes no row answers 200. A caller who may not read the rows is shown their ids.
#[utoipa::path(post, path = "/v1/projects/{projectId}/rest/{table}", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."), ("table" = backend_data::TableName, Path, description = "The table."), ("Prefer" = Option<String>, Header, description = "`return=minimal` for a response without rows, `count=exact` for a `Content-Range` with their number.")),
    request_body(content = crate::http::openapi::RowOrRows, description = "A row, or an array of rows.", example = json!([{"id": "tea", "title": "Buy tea"}, {"id": "jam", "title": "Buy jam"}])),
    responses((status = 201, description = "The inserted rows.", body = Vec<Object>), (status = 200, description = "All rows existed and were merged.", body = Vec<Object>)))]
pub(crate) async fn insert_rows(
    State(api): State<Api>,
    caller: Keyed<RowsWrite>,
    response_options: ResponseOptions,
    Path((_, table)): Path<(String, String)>,
    uri: Uri,
    RawQuery(query): RawQuery,
    request: Request,
) -> RestResult<Response> {
    let payload = caller.body(request).await?;
    let query = query.as_deref().unwrap_or_default();
    let (rows, body) = (caller.rows(&api), payload.rows_text()?);
    let options = WriteOptions { csv_body: payload.is_csv(), ..response_options.write_options() };
    let done = rows.insert(caller.project_ref(), caller.access(), &table, query, body, &options).await;
    Ok(response_options.insert_response(uri.path(), done.map_err(|error| caller.map_error(error))?))
}
