//! Listing rows by a query.

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
    http::{error::DataErrorEnvelope, extract::Path, schemas},
    state::Api,
};

/// List rows
///
/// Returns rows that you may read. The query language is PostgREST's: filters `column=operator.value` (`eq`, `neq`,
/// `gt`, `gte`, `lt`, `lte`, `like`, `ilike`, `in.(…)`, `is`, `isdistinct`, each also as `not.…`), trees `and=(…)` and
/// `or=(…)`, `select=a,alias:b`, `order=a.desc.nullslast,b`, `limit` (at most 1,000) and `offset`. You can also send a
/// `Range` of rows. `Accept: application/vnd.pgrst.object+json` requests exactly one row, as an object. `Content-Range`
/// in the response says which rows it has.
#[utoipa::path(
    get, path = "/v1/projects/{projectId}/rest/{table}", tag = "backend-data",
    params(
        ("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."),
        ("table" = schemas::backend_data::TableName, Path, description = "The table."),
        ("Prefer" = Option<String>, Header, description = "`count=exact` to count all rows."),
        ("Range" = Option<String>, Header, description = "The first and last row, such as `0-24`.")
    ),
    responses(
        (status = 200, description = "Rows, each an object of column values.", body = Vec<Object>),
        (status = 206, description = "A part of the rows, with their total number.", body = Vec<Object>),
        (
            status = 406,
            description = "There is not exactly one row, or no media type in `Accept` is supported.",
            body = DataErrorEnvelope
        ),
        (status = 416, description = "The range begins after the last row.", body = DataErrorEnvelope)
    )
)]
pub(crate) async fn list_rows(
    State(api): State<Api>,
    caller: Keyed<RowsRead>,
    response_options: ResponseOptions,
    Path((_, table)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> RestResult<Response> {
    let query = query.as_deref().unwrap_or_default();
    let rows = api.rows();
    let done = rows
        .list(caller.project_ref(), caller.access(), &table, query, &response_options.read_options())
        .await;
    Ok(response_options.page_response(done.map_err(|error| caller.map_error(error))?))
}
