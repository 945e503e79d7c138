//! `/openapi.json`, and `/docs`: a page over it that loads nothing from anybody else.

use axum::{
    Router,
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use utoipa::openapi::OpenApi;

use crate::state::Api;

const PAGE: &str = include_str!("docs/page.html");
const SCRIPT: &str = include_str!("docs/page.js");
const STYLE: &str = include_str!("docs/page.css");
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

pub(crate) fn router(description: &OpenApi) -> Router<Api> {
    // Our own types do not fail to be written.
    let json = Bytes::from(serde_json::to_vec(description).unwrap_or_default());
    Router::new()
        .route("/openapi.json", get(move || async move { typed("application/json", json) }))
        .route("/docs", get(page))
        .route("/docs/page.js", get(|| async { typed("text/javascript; charset=utf-8", SCRIPT) }))
        .route("/docs/page.css", get(|| async { typed("text/css; charset=utf-8", STYLE) }))
}

async fn page() -> Response {
    let mut response = Html(PAGE).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

fn typed(media_type: &'static str, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
