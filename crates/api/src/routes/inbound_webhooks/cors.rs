//! CORS for public forms: scripts of the sites in a form's settings may send it and read the response, without cookies.
//! Webhooks of other modes are for servers, and no page may use them.

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::{
    http::{error::ApiResult, extract::Path, request_middleware::RequestInfo},
    state::Api,
};

const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("POST");
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static("accept, content-type, idempotency-key");
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("idempotent-replayed, retry-after, x-request-id");
/// Time in seconds for which browsers cache a preflight response; short, because settings change.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Returns the origin of the calling page if the form's settings list it.
async fn allowed_origin(api: &Api, hook: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return None };
    let state = api.store().webhook_snapshot(hook.parse().ok()?, false).await.ok()??;
    let form = state.webhook.proof.form()?;
    form.allowed_sites.iter().any(|site| site.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

/// Adds the CORS headers to a response, including an error, so that a listed page can read it.
pub(super) async fn add_cors_headers(
    api: &Api,
    hook: &str,
    request_headers: &HeaderMap,
    response: &mut Response,
) {
    if !request_headers.contains_key(header::ORIGIN) {
        return;
    }
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = allowed_origin(api, hook, request_headers).await {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    }
}

/// Responds to a preflight request. For an unknown form, the response is the same as for a page that is not listed.
pub(super) async fn preflight(
    State(api): State<Api>,
    Extension(info): Extension<RequestInfo>,
    Path(hook): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    api.rate_limits().check(None, info.address, 1)?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    add_cors_headers(&api, &hook, &headers, &mut response).await;
    let allowed = response.headers_mut();
    if allowed.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        allowed.remove(header::ACCESS_CONTROL_EXPOSE_HEADERS);
        allowed.insert(header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
        allowed.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
        allowed.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    }
    Ok(response)
}
