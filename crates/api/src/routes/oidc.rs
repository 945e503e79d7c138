//! Sign-in with an OpenID Connect issuer. Browsers open both URLs, and get redirects and pages.

mod auth_request;
mod callback;
mod start;

use axum::middleware;
use utoipa_axum::router::OpenApiRouter;

use crate::{http::pages::html_errors, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(start::start_oidc_sign_in, cost = 5))
        .routes(op!(callback::finish_oidc_sign_in, cost = 5))
        .route_layer(middleware::from_fn(html_errors))
}

/// Returns the URL to which an issuer sends the browser back. The operator registers it at the issuer.
fn redirect_uri(api: &Api, provider: &str) -> String {
    format!("{}/v1/auth/oidc/{provider}/callback", api.settings().public_url)
}
