//! Adding rows.

use axum::{
    extract::{RawQuery, Request, State},
    response::Response,
};

use super::{RestResult, Terms, caller::KeyCaller};
use crate::extract::Path;
use crate::state::Api;

/// Insert one row or up to 500, all or nothing
///
/// `columns` names the columns to write when the rows do not all give the same ones. With
/// `Prefer: resolution=merge-duplicates` or `resolution=ignore-duplicates` a row whose `id` exists is updated or left.
/// A caller who may not read the rows is shown their ids.
#[utoipa::path(post, path = "/v1/projects/{projectId}/rest/{table}", tag = "backend-data",
    params(("projectId", description = "The project the key is of."), ("table", description = "The table."), ("Prefer" = Option<String>, Header, description = "`return=minimal` for an answer without rows, `count=exact` for a `Content-Range` with their number.")),
    request_body(content = Object, description = "A row, or an array of rows."),
    responses((status = 201, description = "The inserted rows.", body = Vec<Object>)))]
pub(crate) async fn insert_rows(
    State(api): State<Api>,
    caller: KeyCaller,
    terms: Terms,
    Path((_, table)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    request: Request,
) -> RestResult<Response> {
    let payload = caller.body(request).await?;
    let query = query.as_deref().unwrap_or_default();
    let rows = &api.services.rows;
    let done = rows
        .insert(caller.place(), caller.access(), &table, query, payload.json_text()?, &terms.writing())
        .await;
    Ok(terms.inserted(done.map_err(|error| caller.refusal(error))?))
}
