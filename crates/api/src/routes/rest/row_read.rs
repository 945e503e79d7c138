//! Reading a row.

use axum::{
    extract::{RawQuery, State},
    response::Response,
};

use super::{
    RestResult,
    caller::{Keyed, RowsRead},
    response_options::ResponseOptions,
};
use crate::{
    http::{
        conditional::{EntityTag, IfNoneMatch},
        extract::Path,
        schemas,
    },
    state::Api,
};

/// Read a row
///
/// `select` lists the columns to return. Without it, JSON has an `ETag`, with which you can change the row only if it is
/// still the same.
#[utoipa::path(
    get, path = "/v1/projects/{projectId}/rest/{table}/{id}", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("id" = String, Path, description = "The row's id."),
        IfNoneMatch
    ),
    responses((status = 200, description = "The row.", body = Object))
)]
pub(crate) async fn read_row(
    State(api): State<Api>,
    caller: Keyed<RowsRead>,
    response_options: ResponseOptions,
    Path((_, table, id)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    known: IfNoneMatch,
) -> RestResult<Response> {
    let query = query.as_deref().unwrap_or_default();
    let rows = api.rows();
    let done =
        rows.get(caller.project_ref(), caller.access(), &table, &id, query, response_options.format()).await;
    let page = done.map_err(|error| caller.map_error(error))?;
    if !response_options.has_whole_rows(query) {
        return Ok(response_options.row_response(page));
    }
    let tag = EntityTag::of_bytes(&page.body);
    Ok(known.unless_known(&tag, || response_options.row_response(page)))
}
