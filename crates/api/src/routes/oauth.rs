//! Agent clients: the public endpoints of OAuth, the page on which a person decides, and the operations for the
//! console.
//!
//! The public endpoints return OAuth errors and are not part of the API description: clients find them by their
//! metadata (RFC 8414).

mod authorization_decide;
mod authorization_read;
mod authorize;
mod consent;
mod cors;
mod error;
mod form;
mod grant_list;
mod grant_revoke;
mod metadata;
mod register;
mod revoke;
mod token;
mod view;

use axum::{
    Router, middleware,
    routing::{get, post},
};
use utoipa_axum::router::OpenApiRouter;

use crate::{http::pages::html_errors, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(authorization_read::read_authorization))
        .routes(op!(authorization_decide::decide_authorization))
        .routes(op!(grant_list::list_grants))
        .routes(op!(grant_revoke::revoke_grant))
}

/// Returns the routes for clients and browsers, which do not use the API's error envelope.
pub(crate) fn public_router() -> Router<Api> {
    // Pages of any site may call these, since they read no cookie. A person visits the two below, so no page may call
    // those.
    // Clients that take an address for a folder append a slash.
    let metadata = [
        ("/.well-known/oauth-protected-resource", get(metadata::protected_resource)),
        ("/.well-known/oauth-protected-resource/mcp", get(metadata::protected_resource)),
        ("/.well-known/oauth-authorization-server", get(metadata::authorization_server)),
    ];
    let for_pages_too = metadata.into_iter().fold(Router::new(), |router, (path, read)| {
        let read = read.options(cors::preflight);
        router.route(path, read.clone()).route(&format!("{path}/"), read)
    });
    let for_pages_too = for_pages_too
        .route("/oauth/register", post(register::register).options(cors::preflight))
        .route("/oauth/token", post(token::token).options(cors::preflight))
        .route("/oauth/revoke", post(revoke::revoke).options(cors::preflight))
        .route_layer(middleware::from_fn(cors::allow_any_origin));
    Router::new()
        .route("/oauth/authorize", get(authorize::authorize))
        .route("/oauth/consent/{id}", get(consent::show).post(consent::decide))
        .route_layer(middleware::from_fn(html_errors))
        .merge(for_pages_too)
}
