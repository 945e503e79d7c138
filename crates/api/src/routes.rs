//! Every operation: one file each, in the folder of its group.

/// Registers operations that share a path and an access.
macro_rules! op {
    ($access:expr, $($handler:path),+ $(,)?) => {
        $access.of(utoipa_axum::routes!($($handler),+))
    };
}

pub(crate) mod app_proxy;
mod apps;
mod audit;
mod auth;
mod automations;
mod changes;
mod dead_letters;
mod device;
mod events;
mod gates;
mod health;
mod inbound_webhooks;
mod invites;
mod join_domain;
mod logs;
mod members;
mod oauth;
mod oidc;
mod passkeys;
mod projects;
mod rest;
mod runs;
mod session;
mod tokens;
pub(crate) mod web_pages;
mod webhooks;
mod workspaces;

pub(crate) use invites::{Entered, Nothing};
pub(crate) use oidc::SpentAuthStates;
pub(crate) use rest::{PersonTokenCache, ResponseOptions, TrustedIssuer, json_response, rest_problem};
pub(crate) use session::SessionView;

use axum::{
    Router,
    extract::State,
    http::request::Parts,
    middleware,
    response::{IntoResponse as _, Response},
};
use kernel::{Problem, ProblemKind};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    agent_auth, docs, envelope::ApiError, host_routing, openapi, pages, request_middleware, state::Api,
};

/// Every operation with its description.
pub(crate) fn operations() -> OpenApiRouter<Api> {
    OpenApiRouter::with_openapi(openapi::base())
        .merge(health::router())
        .merge(auth::router())
        .merge(session::router())
        .merge(passkeys::router())
        .merge(oidc::router())
        .merge(device::router())
        .merge(events::router())
        .merge(tokens::router())
        .merge(oauth::router())
        .merge(workspaces::router())
        .merge(members::router())
        .merge(invites::router())
        .merge(join_domain::router())
        .merge(audit::router())
        .merge(gates::router())
        .merge(apps::router())
        .merge(changes::router())
        .merge(automations::router())
        .merge(webhooks::router())
        .merge(inbound_webhooks::router())
        .merge(runs::router())
        .merge(dead_letters::router())
        .merge(logs::router())
        .merge(projects::router())
        .merge(rest::router())
}

/// The whole API, ready to be served, with the agent server beside it. Only who has a token for it comes to `agents`,
/// which finds the [`Context`](kernel::Context) of each request in its extensions.
pub fn router(api: Api, agents: Router) -> Router {
    let (router, description) = operations().split_for_parts();
    let guard = middleware::from_fn_with_state(api.clone(), agent_auth::require_agent);
    router
        .merge(agents.route_layer(guard).with_state(()))
        .merge(oauth::public_router())
        .merge(docs::router(&openapi::finish(description)))
        .merge(pages::router())
        .merge(web_pages::router())
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
    let problem = Problem::new(ProblemKind::NotFound, "route_not_found", "There is nothing at this path.")
        .hint("See /docs for every operation.");
    error_for_path(&api, &request, problem).await
}

async fn method_not_allowed(State(api): State<Api>, request: Parts) -> Response {
    let problem = Problem::new(
        ProblemKind::MethodNotAllowed,
        "method_not_allowed",
        "The path is known and takes other methods.",
    )
    .hint("The header Allow names them.");
    error_for_path(&api, &request, problem).await
}

/// The problem in the form that the callers of a path read.
async fn error_for_path(api: &Api, request: &Parts, problem: Problem) -> Response {
    if rest::is_data_api_path(request.uri.path()) {
        return rest::unmatched_response(api, request, problem).await;
    }
    ApiError::from(problem).into_response()
}

/// That it is done.
#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
pub(crate) struct Done {
    /// Always true.
    #[schema(example = true)]
    ok: bool,
}

impl Done {
    pub(crate) const OK: Self = Self { ok: true };
}
