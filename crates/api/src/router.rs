//! The router: all operations with their descriptions, and what is served besides them. No other module imports this
//! one.

mod host_routing;

use application::{Problem, ProblemKind};
use axum::{
    Router,
    extract::State,
    http::request::Parts,
    middleware,
    response::{IntoResponse as _, Response},
};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    auth::agent,
    http::{conditional::set_refused_preconditions, error::ApiError, openapi, pages, request_middleware},
    routes::{self, app_proxy, docs, invites, oauth, rest},
    state::Api,
};

/// Returns all operations with their descriptions.
fn operations() -> OpenApiRouter<Api> {
    OpenApiRouter::with_openapi(openapi::base())
        .merge(routes::health::router())
        .merge(routes::auth::router())
        .merge(routes::session::router())
        .merge(routes::passkeys::router())
        .merge(routes::oidc::router())
        .merge(routes::device::router())
        .merge(routes::events::router())
        .merge(routes::tokens::router())
        .merge(routes::oauth::router())
        .merge(routes::workspaces::router())
        .merge(routes::members::router())
        .merge(routes::invites::router())
        .merge(routes::join_domain::router())
        .merge(routes::audit::router())
        .merge(routes::connections::router())
        .merge(routes::app_secrets::router())
        .merge(routes::drafts::router())
        .merge(routes::gates::router())
        .merge(routes::apps::router())
        .merge(routes::changes::router())
        .merge(routes::automations::router())
        .merge(routes::agent_tools::router())
        .merge(routes::webhooks::router())
        .merge(routes::imports::router())
        .merge(routes::inbound_webhooks::router())
        .merge(routes::runs::router())
        .merge(routes::dead_letters::router())
        .merge(routes::logs::router())
        .merge(routes::notifications::router())
        .merge(routes::overview::router())
        .merge(routes::projects::router())
        .merge(routes::rest::router())
}

/// Returns the description of the API (OpenAPI 3.1).
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    openapi::finish(operations().split_for_parts().1)
}

/// Returns the router of the API, its pages, the agent server and the files of the console. Only requests with a token for
/// the agent server reach `agents`, which finds the [`Context`](kernel::Context) of each in its extensions.
pub fn router(api: Api, agents: Router, console_files: Router) -> Router {
    let (router, description) = operations().split_for_parts();
    set_refused_preconditions(&description);
    let guard = middleware::from_fn_with_state(api.clone(), agent::require_agent);
    router
        .merge(agents.route_layer(guard).with_state(()))
        .merge(console_files.with_state(()))
        .merge(oauth::public_router())
        .merge(docs::router(document))
        .merge(pages::router())
        .merge(routes::web_pages::router())
        .merge(invites::pages())
        .merge(app_proxy::router())
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(api.clone(), host_routing::route_by_host))
        .layer(CatchPanicLayer::custom(request_middleware::panic_response))
        .layer(middleware::from_fn_with_state(api.clone(), request_middleware::apply))
        .with_state(api)
}

async fn not_found(State(api): State<Api>, request: Parts) -> Response {
    let problem = Problem::new(ProblemKind::NotFound, "route_not_found", "There is no route with this path.")
        .hint("See /docs for all operations.");
    error_for_path(&api, &request, problem).await
}

async fn method_not_allowed(State(api): State<Api>, request: Parts) -> Response {
    let problem = Problem::new(
        ProblemKind::MethodNotAllowed,
        "method_not_allowed",
        "This path does not support the method.",
    )
    .hint("Use one of the methods in the Allow header.");
    error_for_path(&api, &request, problem).await
}

/// Returns the problem in the format that clients of the path expect.
async fn error_for_path(api: &Api, request: &Parts, problem: Problem) -> Response {
    if rest::is_data_api_path(request.uri.path()) {
        return rest::unmatched_response(api, request, problem).await;
    }
    ApiError::from(problem).into_response()
}
