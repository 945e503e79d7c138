//! The log of requests to a project's data API. A request costs an entry in memory.

use std::sync::{Arc, OnceLock};

use axum::{extract::Request as HttpRequest, middleware::Next, response::Response};
use kernel::Timestamp;
use projects::traffic::RequestRecord;

use crate::{http::error, state::Api};
use application::authentication::ResolvedKey;

/// Maximum length of a path in characters; longer ones are cut.
const MAX_PATH_CHARS: usize = 300;

/// Caller of a request, for the log of requests.
pub(super) struct LoggedCaller {
    pub(super) api: Api,
    pub(super) resolved_key: Arc<ResolvedKey>,
    pub(super) at: Timestamp,
}

/// Caller of the request, once it is known.
#[derive(Clone, Default)]
pub(super) struct RequestLogSlot(Arc<OnceLock<LoggedCaller>>);

impl RequestLogSlot {
    /// Sets the caller.
    pub(super) fn set(&self, caller: LoggedCaller) {
        let _first = self.0.set(caller);
    }
}

/// Number of rows in a response.
#[derive(Clone, Copy)]
pub(super) struct RowCount(pub(super) u64);

/// Records every request with a known key, whether it succeeds or not.
pub(super) async fn log_requests(mut request: HttpRequest, next: Next) -> Response {
    let started = std::time::Instant::now();
    let slot = RequestLogSlot::default();
    request.extensions_mut().insert(slot.clone());
    let method = request.method().as_str().to_owned();
    // Never the query, since it has values of rows.
    let path: String = request.uri().path().chars().take(MAX_PATH_CHARS).collect();
    let response = next.run(request).await;
    if let Some(LoggedCaller { api, resolved_key: known, at }) = slot.0.get() {
        record(api, known, *at, method, path, started, &response);
    }
    response
}

fn record(
    api: &Api,
    known: &ResolvedKey,
    at: Timestamp,
    method: String,
    path: String,
    started: std::time::Instant,
    response: &Response,
) {
    let table = path.split('/').skip_while(|part| *part != "rest").skip(1).find(|part| *part != "v1");
    let table = table.filter(|table| is_table_name(table));
    let table = table.map(str::to_owned);
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let rows = response.extensions().get::<RowCount>().map(|RowCount(rows)| *rows);
    api.traffic().record(RequestRecord {
        project: known.project.id,
        at,
        method,
        path,
        table,
        status: response.status().as_u16(),
        micros,
        key: known.key.id,
        rows,
        error_code: error::problem_code(response),
    });
}

fn is_table_name(text: &str) -> bool {
    (1..=48).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
