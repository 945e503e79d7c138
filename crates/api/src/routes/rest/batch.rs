//! Several writes at once.

use axum::{
    Json,
    extract::{Request, State},
};
use backend_data::{Operation, OperationKind, Prefer, WriteOptions};
use kernel::Problem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    RestResult,
    caller::{Keyed, RowsWrite},
};
use crate::{http::extract::Path, state::Api};

/// Operations over tables of one project.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    /// Done in this order.
    #[schema(min_items = 1, max_items = 50)]
    operations: Vec<BatchOperation>,
}

/// How an operation changes rows.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum BatchMethod {
    Post,
    Put,
    Patch,
    Delete,
}

/// One operation: what the request for it alone would say.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchOperation {
    method: BatchMethod,
    #[schema(example = "notes")]
    table: String,
    /// The one row that is meant; of PUT, PATCH and DELETE.
    #[serde(default)]
    id: Option<String>,
    /// The query string, without its question mark.
    #[serde(default)]
    #[schema(example = "done=is.true")]
    query: String,
    /// The rows or the column values; none of DELETE.
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    body: Option<Box<RawValue>>,
    /// As the header `Prefer`.
    #[serde(default)]
    #[schema(example = "return=minimal")]
    prefer: String,
}

/// What came of the operations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchResults {
    /// In the order of the operations.
    results: Vec<BatchResult>,
}

/// What came of one operation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchResult {
    /// The status that the request for it alone would have had.
    status: u16,
    /// How many rows it wrote.
    rows: u64,
    /// The rows; null where none was asked for.
    #[schema(required, value_type = serde_json::Value)]
    body: Option<Box<RawValue>>,
}

/// Change rows of several tables, all or nothing
///
/// Up to 50 inserts, upserts, updates and deletes, one after the other in one transaction: each sees what those before it did. Rules
/// and scopes hold as for each alone, and each counts as a request against rate limits. When one is refused, none is done, and `details` says which it was.
#[utoipa::path(post, path = "/v1/projects/{projectId}/rest/_batch", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key.")),
    request_body(content = Batch, example = json!({"operations": [
        {"method": "POST", "table": "notes", "body": {"id": "tea", "title": "Buy tea"}, "query": "select=id"},
        {"method": "PATCH", "table": "notes", "id": "tea", "body": {"title": "Buy green tea"}, "prefer": "return=minimal"},
        {"method": "DELETE", "table": "notes", "query": "done=is.true"},
    ]})), responses((status = 200, body = BatchResults)))]
pub(crate) async fn batch_rows(
    State(api): State<Api>,
    caller: Keyed<RowsWrite>,
    Path(_): Path<String>,
    request: Request,
) -> RestResult<Json<BatchResults>> {
    let Batch { operations } = caller.body(request).await?.json()?;
    // The request itself has paid for the first.
    let more = u32::try_from(operations.len().saturating_sub(1)).unwrap_or(u32::MAX);
    if more > 0 {
        caller.charge(&api, more)?;
    }
    let mut ready = Vec::with_capacity(operations.len());
    for (at, operation) in operations.iter().enumerate() {
        let prefer = Prefer::parse(&operation.prefer).map_err(|error| caller.map_error(error))?;
        let (kind, body) = match (operation.method, &operation.body) {
            (BatchMethod::Delete, None) => (OperationKind::Delete, &b""[..]),
            (BatchMethod::Post, Some(body)) => (OperationKind::Insert, body.get().as_bytes()),
            (BatchMethod::Put, Some(body)) => (OperationKind::Put, body.get().as_bytes()),
            (BatchMethod::Patch, Some(body)) => (OperationKind::Update, body.get().as_bytes()),
            (_, body) => {
                let what = if body.is_some() { "takes no body" } else { "needs a body" };
                return Err(Problem::invalid_field(&format!("operations[{at}]"), what).into());
            }
        };
        let options = WriteOptions {
            resolution: prefer.resolution.filter(|_| kind == OperationKind::Insert),
            ..WriteOptions::from_prefer(&prefer, false)
        };
        let (table, query) = (operation.table.as_str(), operation.query.as_str());
        ready.push(Operation { kind, table, id: operation.id.as_deref(), query, body, options });
    }
    let kinds: Vec<OperationKind> = ready.iter().map(|operation| operation.kind).collect();
    let done = caller.rows(&api).batch(caller.project_ref(), caller.access(), ready).await;
    let mut results = Vec::with_capacity(kinds.len());
    for (written, kind) in done.map_err(|error| caller.map_error(error))?.into_iter().zip(kinds) {
        let body = match std::str::from_utf8(&written.body).map_err(Problem::internal)? {
            "" => None,
            text => Some(RawValue::from_string(text.to_owned()).map_err(Problem::internal)?),
        };
        let status = match (kind, &body) {
            (OperationKind::Insert, _) if written.inserted == Some(0) => 200,
            (OperationKind::Insert, _) => 201,
            (OperationKind::Put, _) if written.inserted == Some(1) => 201,
            (_, None) => 204,
            (_, Some(_)) => 200,
        };
        results.push(BatchResult { status, rows: written.rows, body });
    }
    Ok(Json(BatchResults { results }))
}
