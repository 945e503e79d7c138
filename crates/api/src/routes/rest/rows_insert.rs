//! Inserting rows.

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
use crate::{
    http::{extract::Path, schemas},
    state::Api,
};

/// Insert rows
///
/// Inserts one row or up to 500: either all or none.
///
/// `columns` lists the columns to write, if not all rows have the same ones. With
/// `Prefer: resolution=merge-duplicates`, a row whose `id` exists is updated; with `resolution=ignore-duplicates`, it
/// is left as it is. `on_conflict` names other columns to compare, which need a unique index. If no row is new after a
/// merge, the status is 200.
///
/// The body may be `text/csv` with the column names in the first line. With `Prefer: return=headers-only`, the response
/// has only the URL of the row. `order` orders the rows in the response; by default, they are in the order in which you
/// sent them. If you may not read the rows, you get only their ids.
#[utoipa::path(
    post, path = "/v1/projects/{projectId}/rest/{table}", tag = "backend-data",
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
        content = crate::http::openapi::RowOrRows,
        description = "A row, or an array of rows.",
        example = json!([{"id": "tea", "title": "Buy tea"}, {"id": "jam", "title": "Buy jam"}])
    ),
    responses(
        (status = 201, description = "The inserted rows.", body = Vec<Object>),
        (status = 200, description = "All rows existed and were merged.", body = Vec<Object>)
    )
)]
pub(crate) async fn insert_rows(
    State(api): State<Api>,
    mut caller: Keyed<RowsWrite>,
    response_options: ResponseOptions,
    Path((_, table)): Path<(String, String)>,
    uri: Uri,
    RawQuery(query): RawQuery,
    request: Request,
) -> RestResult<Response> {
    let payload = caller.body(&api, request).await?;
    let query = query.as_deref().unwrap_or_default();
    let (rows, body) = (caller.rows(&api), payload.rows_text()?);
    let options = WriteOptions { csv_body: payload.is_csv(), ..response_options.write_options() };
    let done = rows.insert(caller.project_ref(), caller.access(), &table, query, body, &options).await;
    Ok(response_options.insert_response(uri.path(), done.map_err(|error| caller.map_error(error))?))
}
