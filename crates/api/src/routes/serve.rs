//! Apps answering over HTTP: at a host of their own where the operator gives apps a domain, else under `/a/{slug}/`.

mod answer;
mod headers;

use axum::{
    Router,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Redirect, Response},
    routing::any,
};
use kernel::Problem;

use self::answer::answer;
use crate::{envelope::ApiResult, host::AppHost, state::Api};

/// Where a request found the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At a host of its own.
    Own,
    /// Under a path of the console's origin.
    Shared,
}

pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/a/{slug}", any(redirect_to_root))
        .route("/a/{slug}/", any(by_path))
        .route("/a/{slug}/{*path}", any(by_path))
}

/// Where an app answers.
pub(crate) fn url(api: &Api, slug: &str) -> String {
    match &api.config.apps_domain {
        Some(_) => format!("{}/", answer::origin(api, slug)),
        None => format!("{}/a/{slug}/", api.config.public_url),
    }
}

async fn redirect_to_root(request: Request) -> Redirect {
    // As it came, still encoded: what is decoded need not fit into a header.
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::permanent(&format!("{}/{query}", request.uri().path()))
}

async fn by_path(State(api): State<Api>, request: Request) -> ApiResult<Response> {
    let missing = || Problem::not_found("app");
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let (slug, rest) = path.strip_prefix("/a/").and_then(|rest| rest.split_once('/')).ok_or_else(missing)?;
    answer(&api, slug, &format!("/{rest}"), Place::Shared, request).await
}

/// Hands a request to an app whose own host it names; any other goes on to the API.
pub(crate) async fn by_host(State(api): State<Api>, request: Request, next: Next) -> Response {
    let Some(AppHost(slug)) = request.extensions().get::<AppHost>().cloned() else {
        return next.run(request).await;
    };
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    answer(&api, &slug, &path, Place::Own, request).await.into_response()
}
