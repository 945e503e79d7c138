//! Listing the latest requests to a project's data API.

use std::collections::HashMap;

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::page::Page;
use projects::{
    KeyKind, ProjectAccess,
    traffic::{StoredRequest, TrafficMetrics, WINDOW_MINUTES},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::{
        error::ApiResult,
        extract::{Params, Path},
        paging::PageParams,
        schemas,
    },
    state::Api,
};

/// The latest requests, newest first, and metrics of the last hour.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestLog {
    logs: Vec<RequestEntry>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
    metrics: RequestMetrics,
}

/// A request to the data API.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestEntry {
    id: String,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    #[schema(min_length = 1, max_length = 10)]
    method: String,
    /// Path without the query.
    #[schema(max_length = 300)]
    path: String,
    #[schema(required)]
    table: Option<String>,
    #[schema(minimum = 100, maximum = 599)]
    status: u16,
    #[schema(minimum = 0)]
    duration_ms: f64,
    #[schema(required)]
    key_prefix: Option<String>,
    #[schema(required, max_length = 60)]
    key_name: Option<String>,
    #[schema(required, value_type = Option<schemas::projects::KeyKind>)]
    key_kind: Option<KeyKind>,
    /// Number of rows that were returned or written.
    #[schema(required)]
    rows: Option<u64>,
    #[schema(required)]
    error_code: Option<String>,
}

/// Metrics of the last hour.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestMetrics {
    #[schema(minimum = 1)]
    window_minutes: u64,
    /// Number of requests in each minute, oldest first.
    #[schema(max_items = 120)]
    per_minute: Vec<u64>,
    requests_per_min: f64,
    total: u64,
    /// Number of requests that were refused or failed.
    errors: u64,
    /// Median duration in milliseconds, to within 10 %; null without requests.
    #[schema(required)]
    p50_ms: Option<f64>,
    /// 95th percentile of the duration in milliseconds, to within 10 %; null without requests.
    #[schema(required)]
    p95_ms: Option<f64>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_request_at: Option<DateTime<Utc>>,
}

impl From<TrafficMetrics> for RequestMetrics {
    fn from(metrics: TrafficMetrics) -> Self {
        Self {
            window_minutes: WINDOW_MINUTES as u64,
            requests_per_min: metrics.requests_per_minute(),
            per_minute: metrics.per_minute,
            total: metrics.total,
            errors: metrics.errors,
            p50_ms: metrics.p50_ms,
            p95_ms: metrics.p95_ms,
            last_request_at: metrics.last_at.and_then(DateTime::from_timestamp_millis),
        }
    }
}

/// List the latest requests to a backend project's data API
///
/// Only requests with a valid key are listed. Requests to other nodes appear within 15 seconds. If there are very many
/// requests, all are counted but not all are listed.
#[utoipa::path(
    get, path = "/v1/backend/projects/{projectId}/logs", tag = "backend-console",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), PageParams),
    responses((status = 200, body = RequestLog))
)]
pub(crate) async fn list_project_requests(
    State(api): State<Api>,
    Authorized(ctx, access): Authorized<ReadToken, ProjectAccess>,
    Path(_project): Path<String>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<RequestLog>> {
    let page = input.request()?;
    api.flush_traffic().await?;
    let begin = TrafficMetrics::window_start(ctx.now);
    let found = api.store().project_requests(access.project(), page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |stored| stored.number);
    let metrics = TrafficMetrics::from_counts(
        &api.store().project_request_counts(access.project(), begin).await?,
        begin,
    );
    let keys = api.store().project_keys(access.member().workspace(), access.project()).await?;
    let keys: HashMap<_, _> = keys.into_iter().map(|key| (key.id, key)).collect();
    let entry = |StoredRequest { number, request }: StoredRequest| {
        let key = keys.get(&request.key);
        RequestEntry {
            id: number.to_string(),
            at: request.at,
            method: request.method,
            path: request.path,
            table: request.table,
            status: request.status,
            duration_ms: request.micros as f64 / 1_000.0,
            key_prefix: key.map(|key| key.hint.prefix.clone()),
            key_name: key.map(|key| key.name.clone()),
            key_kind: key.map(|key| key.kind),
            rows: request.rows,
            error_code: request.error_code,
        }
    };
    let Page { items: logs, next_cursor } = page.map(entry);
    Ok(Json(RequestLog { logs, next_cursor, metrics: metrics.into() }))
}
