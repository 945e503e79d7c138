//! Forwarding a request to an app.
//!
//! Under a path of the server, an app's pages are the code of others on the console's origin. They never get its
//! cookie, and their responses run in a sandboxed origin.
//! See `docs/decisions/0014-sandboxed-origin-for-apps-under-a-path.md`.

use application::{Problem, ProblemKind};
use axum::{
    body::Body,
    extract::Request,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use kernel::byte_string;
use runs::{
    engine::{Failure, FailureCode, HttpRequest},
    serve::AppResponse,
};

use super::{
    ServingMode,
    headers::{is_replaced_document, request_headers, response_header},
};
use crate::{
    http::{error::ApiResult, extract::read_anonymous_body, request_middleware::RequestInfo},
    state::Api,
};

/// Maximum length of the body of a request to an app, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Statuses of responses without a body, whatever the app returns.
const BODYLESS: [StatusCode; 3] =
    [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT, StatusCode::NOT_MODIFIED];

/// Forwards a request for `path_and_query` to the app with a slug.
pub(super) async fn forward(
    api: &Api,
    slug: &str,
    path_and_query: &str,
    mode: ServingMode,
    request: Request,
) -> ApiResult<Response> {
    let info = request.extensions().get::<RequestInfo>().cloned();
    let address = info.as_ref().and_then(|info| info.address);
    if let (Some(rate), Some(info)) = (api.rate_limits().check(None, address, 1)?, &info) {
        let _first = info.rate.set(rate);
    }
    // On the shared origin, a service worker of an app could control pages of Qala.
    let is_worker = request.headers().get("service-worker").is_some();
    if mode == ServingMode::SharedOrigin && is_worker {
        return Err(Problem::forbidden("service_worker_denied", "A service worker needs a host of its own.")
            .hint("The operator can give apps hosts of their own with --apps-domain.")
            .into());
    }
    let app = api.store().app_by_slug(slug).await?.ok_or_else(|| Problem::not_found("app"))?;
    let version = app
        .current_version
        .filter(|_| !app.is_paused)
        .ok_or_else(|| Problem::unavailable("app_paused", "The app is paused or has no version yet."))?;

    let has_body = request.method() != Method::HEAD;
    let method = request.method().as_str().to_owned();
    let headers = request_headers(request.headers(), mode);
    let body = read_anonymous_body(request, MAX_BODY).await?;
    let url = format!("{}{path_and_query}", origin(api, &app.slug));
    let request = HttpRequest { method, url, headers, body };
    match api.app_server().serve(app.workspace, app.id, version, request).await {
        Ok(response) => Ok(build_response(response, mode, has_body)?),
        Err(failure) => Err(failure_problem(&failure).into()),
    }
}

/// Returns the origin that the app sees as its own, wherever it is served, so that its code need not know.
pub(crate) fn origin(api: &Api, slug: &str) -> String {
    let public: Option<url::Url> = api.settings().public_url.parse().ok();
    let port = public.as_ref().and_then(url::Url::port).map(|port| format!(":{port}")).unwrap_or_default();
    let scheme = if api.settings().is_https() { "https" } else { "http" };
    let domain = api.settings().apps_domain.as_deref().unwrap_or("localhost");
    format!("{scheme}://{slug}.{domain}{port}")
}

fn build_response(response: AppResponse, mode: ServingMode, has_body: bool) -> Result<Response, Problem> {
    let invalid = || {
        Problem::new(ProblemKind::Internal, "app_failed", "The app returned a response that cannot be sent.")
    };
    if response.why_unsendable().is_some() {
        return Err(invalid());
    }
    let (status, headers, body) = match response {
        AppResponse::Buffered(response) => (response.status, response.headers, Ok(response.body)),
        AppResponse::Streamed { status, headers, body } => (status, headers, Err(body)),
    };
    let status = StatusCode::from_u16(status).map_err(|_| invalid())?;
    let streamed = body.is_err();
    let body = match body {
        Ok(whole) => Body::from(whole),
        // Dropping the stream tells the app that nobody reads it.
        Err(_) if BODYLESS.contains(&status) => Body::empty(),
        // The length of the body is unknown.
        Err(_) if !has_body => Body::from_stream(stream::empty::<Result<Bytes, Failure>>()),
        Err(pieces) => Body::from_stream(pieces.then(flush_before_error)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in &headers {
        let name: HeaderName = name.parse().map_err(|_| invalid())?;
        let value = byte_string::encode(value).ok_or_else(invalid)?;
        let value = HeaderValue::from_bytes(&value).map_err(|_| invalid())?;
        if let Some(value) = response_header(&name, value, mode) {
            response.headers_mut().append(name, value);
        }
    }
    if mode == ServingMode::SharedOrigin && is_replaced_document(response.headers()) {
        return Err(
            invalid().hint("A `multipart/x-mixed-replace` body needs a host of its own: --apps-domain.")
        );
    }
    if streamed {
        // Tells a proxy not to buffer the response.
        let no = HeaderValue::from_static("no");
        response.headers_mut().entry(HeaderName::from_static("x-accel-buffering")).or_insert(no);
    }
    if mode == ServingMode::SharedOrigin {
        // The sandbox gives the page an opaque origin, so its scripts cannot read the console's cookie and pages.
        let policy = HeaderValue::from_static("sandbox allow-scripts allow-forms allow-popups");
        response.headers_mut().append(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// Gives the server time to send what came before an error, since the error closes the connection.
async fn flush_before_error(piece: Result<Bytes, Failure>) -> Result<Bytes, Failure> {
    if piece.is_err() {
        tokio::task::yield_now().await;
    }
    piece
}

/// Returns the problem that a visitor sees, without details of the app.
fn failure_problem(failure: &Failure) -> Problem {
    match failure.code {
        FailureCode::Overloaded | FailureCode::WorkerLost => {
            Problem::unavailable("overloaded", "The app cannot respond right now.")
                .hint("Try again in a moment.")
        }
        FailureCode::HandlerMissing => Problem::not_found("page").hint("The app has no `fetch` handler."),
        FailureCode::Timeout | FailureCode::CpuExceeded => {
            Problem::unavailable("app_timeout", "The app did not respond in time.")
        }
        _ => Problem::new(ProblemKind::Internal, "app_failed", "The app failed.")
            .hint("The app's owner finds the reason in its log."),
    }
}
