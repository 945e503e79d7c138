//! CORS for the data API: pages of the origins in a project's settings may call it, without cookies.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use application::Problem;
use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::{
    error::{RestError, RestResult},
    project_path::project_in_path,
};
use crate::{http::request_middleware::RequestInfo, state::Api};

const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "apikey, authorization, content-type, accept, accept-profile, content-profile, prefer, range, range-unit, if-match, \
     if-none-match, x-client-info, x-retry-count",
);
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "content-range, etag, location, next-cursor, preference-applied, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, \
     x-request-id",
);
/// Time in seconds for which browsers cache a preflight response; short, because settings change.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Origin of the calling page, and whether the project lists it.
#[derive(Clone)]
pub(super) struct CorsDecision(Arc<(HeaderValue, AtomicBool)>);

impl CorsDecision {
    fn new(origin: HeaderValue) -> Self {
        Self(Arc::new((origin, AtomicBool::new(false))))
    }

    /// Adds the CORS headers to a response if the origin is listed.
    fn apply(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let (origin, listed) = &*self.0;
        if listed.load(Ordering::Relaxed) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
        response
    }

    /// Allows the page to read the response if its origin is listed.
    pub(super) fn decide(&self, allowed: &[String]) {
        let (origin, listed) = &*self.0;
        if allowed.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()) {
            listed.store(true, Ordering::Relaxed);
        }
    }
}

/// Returns the error for a request that matches no operation. Pages that the project lists may read it. The key is not
/// checked, as for a preflight request, which gets the same response here as at any path.
pub(super) async fn unmatched_response(api: &Api, request: &Parts, problem: Problem) -> Response {
    let refusal = |problem| RestError::from(problem).into_response();
    let origin = request.headers.get(header::ORIGIN).cloned();
    let (Some(origin), Some(info)) = (origin, request.extensions.get::<RequestInfo>()) else {
        return refusal(problem);
    };
    let decision = CorsDecision::new(origin);
    let (about, uri) = (Some(Extension(decision.clone())), request.uri.clone());
    let response = match preflight(State(api.clone()), Extension(info.clone()), about, uri).await {
        Err(limited) => limited.into_response(),
        Ok(allowed) if request.method == Method::OPTIONS => allowed,
        Ok(_) => refusal(problem),
    };
    decision.apply(response)
}

/// Adds the CORS headers to a response so that a listed page can read it; also to errors, once the project is known.
pub(super) async fn add_cors_headers(mut request: Request, next: Next) -> Response {
    let Some(origin) = request.headers().get(header::ORIGIN).cloned() else { return next.run(request).await };
    let decision = CorsDecision::new(origin);
    request.extensions_mut().insert(decision.clone());
    let response = next.run(request).await;
    decision.apply(response)
}

/// Responds to a preflight request. It never has a key, so the response is the same for a project that does not exist
/// and for a page that is not listed.
pub(super) async fn preflight(
    State(api): State<Api>,
    Extension(info): Extension<RequestInfo>,
    decision: Option<Extension<CorsDecision>>,
    uri: Uri,
) -> RestResult<Response> {
    let project = match project_in_path(uri.path()) {
        Some(project) => api.store().project_by_key(project).await?,
        None => None,
    };
    let Some(project) = project else {
        api.rate_limits().check(None, info.address, 1)?;
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    api.rate_limits().check_project_address(project.id, info.address, project.settings.ip_rate_per_min, 1)?;
    if let Some(Extension(decision)) = decision {
        decision.decide(&project.settings.allowed_origins);
    }
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE),
    ];
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}
