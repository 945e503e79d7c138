//! Executing several writes in one transaction.

use application::Problem;
use axum::{
    Json,
    extract::{Request, State},
};
use backend_data::{Operation, OperationKind, Prefer, WriteOptions};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    RestResult,
    caller::{Keyed, RowsWrite},
};
use crate::{http::extract::Path, state::Api};

/// Operations on tables of one project.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    /// Executed in this order.
    #[schema(min_items = 1, max_items = 50)]
    operations: Vec<BatchOperation>,
}

/// Method of an operation.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum BatchMethod {
    Post,
    Put,
    Patch,
    Delete,
}

/// An operation, with what a single request for it would have.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchOperation {
    method: BatchMethod,
    #[schema(example = "notes")]
    table: String,
    /// Row of a PUT, PATCH or DELETE.
    #[serde(default)]
    id: Option<String>,
    /// Query string, without the question mark.
    #[serde(default)]
    #[schema(example = "done=is.true")]
    query: String,
    /// Rows or column values; none for a DELETE.
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    body: Option<Box<RawValue>>,
    /// Preferences, as in the header `Prefer`.
    #[serde(default)]
    #[schema(example = "return=minimal")]
    prefer: String,
}

/// The results of the operations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchResults {
    /// In the order of the operations.
    results: Vec<BatchResult>,
}

/// The result of an operation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchResult {
    /// Status that a single request for the operation would have had.
    status: u16,
    /// Number of rows written.
    rows: u64,
    /// Rows; null if none were requested.
    #[schema(required, value_type = serde_json::Value)]
    body: Option<Box<RawValue>>,
}

/// Change rows of several tables in one transaction
///
/// Executes up to 50 inserts, upserts, updates and deletes in order: either all or none. Each sees the changes of those
/// before it. Policies and scopes apply as for single requests, and each operation counts as a request against rate
/// limits. If one fails, `details` says which.
#[utoipa::path(post, path = "/v1/projects/{projectId}/rest/_batch", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key.")),
    request_body(content = Batch, example = json!({"operations": [
        {"method": "POST", "table": "notes", "body": {"id": "tea", "title": "Buy tea"}, "query": "select=id"},
        {"method": "PATCH", "table": "notes", "id": "tea", "body": {"title": "Buy green tea"}, "prefer": "return=minimal"},
        {"method": "DELETE", "table": "notes", "query": "done=is.true"},
    ]})), responses((status = 200, body = BatchResults)))]
pub(crate) async fn batch_rows(
    State(api): State<Api>,
    mut caller: Keyed<RowsWrite>,
    Path(_): Path<String>,
    request: Request,
) -> RestResult<Json<BatchResults>> {
    let Batch { operations } = caller.body(&api, request).await?.json()?;
    // The request itself counts for the first.
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
                let what = if body.is_some() { "must not have a body" } else { "requires a body" };
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
