//! Middleware of all requests: sets the request id and the client's address, writes the access log and renders errors.
//! A handler that panics responds 500.

use std::{
    any::Any,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
};

use application::{Problem, rate_limits::RateLimitState, request_span::ACCESS_LOG_TARGET};
use axum::{
    extract::{ConnectInfo, MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::{Id, id::RequestId};
use tracing::Instrument as _;

use crate::{
    http::{
        error::{self, ApiError},
        yielding_body::yield_between_chunks,
    },
    state::Api,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Data of the middleware about a request, for the handlers behind it.
#[derive(Clone)]
pub(crate) struct RequestInfo {
    pub(crate) request_id: RequestId,
    pub(crate) address: Option<IpAddr>,
    /// State of the caller's rate limit, once it is known.
    pub(crate) rate: Arc<OnceLock<RateLimitState>>,
}

/// Maximum number of bytes of a request's head.
const MAX_HEAD_BYTES: usize = 64 << 10;

pub(crate) async fn apply(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let started = std::time::Instant::now();
    let info = RequestInfo {
        request_id: Id::generate(api.random(), api.now()),
        address: client_address(&api, &request),
        rate: Arc::default(),
    };
    let logged_request = tracing::enabled!(target: ACCESS_LOG_TARGET, tracing::Level::INFO).then(|| {
        // The template, not the path: a path may have a secret, such as that of an invite.
        (request.method().clone(), request.extensions().get::<MatchedPath>().cloned())
    });
    // The workspace is recorded once the caller is known to be its member.
    let request_id = info.request_id.to_string();
    let span = tracing::info_span!(
        "request",
        %request_id,
        workspace = tracing::field::Empty,
        project = tracing::field::Empty,
    );
    request.extensions_mut().insert(info.clone());

    let response = if head_size(&request) > MAX_HEAD_BYTES {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.into_response()
    } else {
        next.run(request).instrument(span.clone()).await
    };

    let _entered = span.enter();
    let mut response = error::render(response, info.request_id);
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // If a limit refused the request, its state is already in the headers.
    if let Some(rate) = info.rate.get()
        && !headers.contains_key("ratelimit-limit")
    {
        error::write_rate_limit_state(rate, headers);
    }
    if let Some((method, route)) = logged_request {
        tracing::info!(
            target: ACCESS_LOG_TARGET,
            %method,
            route = route.as_ref().map_or("unmatched", MatchedPath::as_str),
            status = response.status().as_u16(),
            ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "request completed"
        );
    }
    response.map(yield_between_chunks)
}

/// Returns the number of bytes of a request's head: its first line and its headers. The limit of the listener is not
/// exact, since it may read more at once.
fn head_size(request: &Request) -> usize {
    let target = request.uri();
    let path = target.path_and_query().map_or(0, |path| path.as_str().len());
    let authority = target.authority().map_or(0, |authority| authority.as_str().len());
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    // "METHOD PATH HTTP/1.1" and the empty line.
    headers.sum::<usize>() + request.method().as_str().len() + authority + path + 14
}

/// Returns the address of the client. Of `X-Forwarded-For`, only the entries that trusted proxies added count, from the
/// right; entries further left may be forged.
fn client_address(api: &Api, request: &Request) -> Option<IpAddr> {
    let peer =
        request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical())?;
    if !api.http().is_trusted_proxy(peer) {
        return Some(peer);
    }
    let forwarded =
        request.headers().get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = forwarded.flat_map(|value| value.split(',')).collect();
    let mut nearest = peer;
    for hop in hops.into_iter().rev() {
        let Ok(hop) = hop.trim().parse::<IpAddr>() else { break };
        nearest = hop.to_canonical();
        if !api.http().is_trusted_proxy(nearest) {
            break;
        }
    }
    Some(nearest)
}

/// Returns the response of a handler that panicked.
#[expect(clippy::needless_pass_by_value, reason = "`CatchPanicLayer` requires this signature")]
pub(crate) fn panic_response(panic: Box<dyn Any + Send>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message");
    ApiError(Problem::internal(format!("a handler panicked: {message}"))).into_response()
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, http::StatusCode, routing::get};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;
    use tower_http::catch_panic::CatchPanicLayer;

    use super::*;

    #[tokio::test]
    async fn a_panic_responds_as_an_internal_error_without_its_message() {
        async fn boom() -> &'static str {
            panic!("the secret is hunter2")
        }
        let router: Router =
            Router::new().route("/", get(boom)).layer(CatchPanicLayer::custom(panic_response));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        let id = RequestId::from_uuid(Default::default());
        let response = error::render(response, id);
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = std::str::from_utf8(&body).unwrap();
        assert!(text.contains("\"code\":\"internal\"") && text.contains(&id.to_string()), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}
