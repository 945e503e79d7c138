//! Signing in with another issuer. These two are addresses for browsers, and answer with redirects and pages.

mod callback;
mod start;
mod ties;

pub(crate) use ties::SpentTies;

use axum::middleware;
use utoipa_axum::router::OpenApiRouter;

use crate::{access::Access, pages::for_readers, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::page().cost(5), start::start_oidc_sign_in))
        .routes(op!(Access::page().cost(5), callback::finish_oidc_sign_in))
        .route_layer(middleware::from_fn(for_readers))
}

/// Where an issuer sends the browser back to; the operator registers it there.
fn redirect_uri(api: &Api, provider: &str) -> String {
    format!("{}/v1/auth/oidc/{provider}/callback", api.config.public_url)
}
