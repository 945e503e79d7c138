//! Which sites' browsers may call a project's data API: exactly those its settings list, and without cookies.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use kernel::Problem;

use super::{
    caller::project_of,
    error::{RestError, RestResult},
};
use crate::{door::Entry, state::Api};

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const SENT: HeaderValue = HeaderValue::from_static(
    "apikey, authorization, content-type, accept, accept-profile, content-profile, prefer, range, range-unit, \
     x-client-info, x-retry-count",
);
const READ: HeaderValue = HeaderValue::from_static(
    "content-range, etag, location, next-cursor, preference-applied, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, \
     x-request-id",
);
/// Settings change: a browser should not remember an answer for long.
const REMEMBERED: HeaderValue = HeaderValue::from_static("600");

/// The origin of a page that calls, and whether the project lists it.
#[derive(Clone)]
pub(super) struct Asked(Arc<(HeaderValue, AtomicBool)>);

impl Asked {
    fn by(origin: HeaderValue) -> Self {
        Self(Arc::new((origin, AtomicBool::new(false))))
    }

    /// An answer with the headers that let the page read it, where its origin is listed.
    fn shown(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let (origin, listed) = &*self.0;
        if listed.load(Ordering::Relaxed) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READ);
        }
        response
    }

    /// Lets the page read the answer when its origin is listed.
    pub(super) fn answer(&self, allowed: &[String]) {
        let (origin, listed) = &*self.0;
        if allowed.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()) {
            listed.store(true, Ordering::Relaxed);
        }
    }
}

/// The refusal of a request that no operation answers. Pages that the project lists may read it: the key is not looked at,
/// as for a browser that asks before it sends, which is told here what it is told at every path.
pub(super) async fn refused(api: &Api, request: &Parts, problem: Problem) -> Response {
    let refusal = |problem| RestError::from(problem).into_response();
    let origin = request.headers.get(header::ORIGIN).cloned();
    let (Some(origin), Some(entry)) = (origin, request.extensions.get::<Entry>()) else {
        return refusal(problem);
    };
    let asked = Asked::by(origin);
    let (about, uri) = (Some(Extension(asked.clone())), request.uri.clone());
    let response = match preflight(State(api.clone()), Extension(entry.clone()), about, uri).await {
        Err(limited) => limited.into_response(),
        Ok(allowed) if request.method == Method::OPTIONS => allowed,
        Ok(_) => refusal(problem),
    };
    asked.shown(response)
}

/// Adds to an answer what lets a listed page read it; refusals included, once the project is known.
pub(super) async fn cors(mut request: Request, next: Next) -> Response {
    let Some(origin) = request.headers().get(header::ORIGIN).cloned() else { return next.run(request).await };
    let asked = Asked::by(origin);
    request.extensions_mut().insert(asked.clone());
    let response = next.run(request).await;
    asked.shown(response)
}

/// Answers a browser that asks before it sends. It never brings the key, so the answer is the same for a project
/// that does not exist as for a page that is not listed.
pub(super) async fn preflight(
    State(api): State<Api>,
    Extension(entry): Extension<Entry>,
    asked: Option<Extension<Asked>>,
    uri: Uri,
) -> RestResult<Response> {
    let project = match project_of(uri.path()) {
        Some(project) => api.store().project_by_key(project).await?,
        None => None,
    };
    let Some(project) = project else {
        api.limits.take(None, entry.address, 1)?;
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    api.limits.take_project_address(project.id, entry.address, project.settings.ip_rate_per_min, 1)?;
    if let Some(Extension(asked)) = asked {
        asked.answer(&project.settings.allowed_origins);
    }
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}
