//! HTTP requests to apps: at a host of their own if the operator configured an apps domain, otherwise under
//! `/a/{slug}/`.

mod forward;
mod headers;

use application::Problem;
use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse as _, Redirect, Response},
    routing::any,
};

use self::forward::forward;
pub(crate) use self::forward::origin;
use crate::{http::error::ApiResult, state::Api};

/// Origin at which an app is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServingMode {
    /// Host of the app's own.
    OwnHost,
    /// Path of the server's origin, which pages of Qala share.
    SharedOrigin,
}

pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/a/{slug}", any(redirect_to_root))
        .route("/a/{slug}/", any(by_path))
        .route("/a/{slug}/{*path}", any(by_path))
}

/// Returns the URL of an app.
pub(crate) fn url(api: &Api, slug: &str) -> String {
    match &api.settings().apps_domain {
        Some(_) => format!("{}/", forward::origin(api, slug)),
        None => format!("{}/a/{slug}/", api.settings().public_url),
    }
}

async fn redirect_to_root(request: Request) -> Redirect {
    // Still encoded: a decoded path may not be valid in a header.
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::permanent(&format!("{}/{query}", request.uri().path()))
}

async fn by_path(State(api): State<Api>, request: Request) -> ApiResult<Response> {
    let missing = || Problem::not_found("app");
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let (slug, rest) = path.strip_prefix("/a/").and_then(|rest| rest.split_once('/')).ok_or_else(missing)?;
    forward(&api, slug, &format!("/{rest}"), ServingMode::SharedOrigin, request).await
}

/// Forwards a request for an app's own host.
pub(crate) async fn by_own_host(api: &Api, slug: &str, request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    forward(api, slug, &path, ServingMode::OwnHost, request).await.into_response()
}
