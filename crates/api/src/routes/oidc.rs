//! Sign-in with an OpenID Connect issuer. Browsers open both URLs, and get redirects and pages.

mod auth_request;
mod callback;
mod callback_form;
mod start;

use application::Problem;
use axum::middleware;
use identity::oidc::OidcError;
use utoipa_axum::router::OpenApiRouter;

use crate::{http::pages::html_errors, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(start::start_oidc_sign_in, cost = 5))
        .routes(op!(callback::finish_oidc_sign_in, cost = 5))
        .routes(op!(public callback_form::forward_oidc_response, cost = 5))
        .route_layer(middleware::from_fn(html_errors))
}

/// Returns the problem of an issuer that cannot be used now.
fn unavailable(error: OidcError, hint: &'static str) -> Problem {
    let code = "provider_unavailable";
    let problem = match &error {
        OidcError::InvalidResponse(reason) => {
            let message = format!("The sign-in service cannot be used: {reason}.");
            Problem::unavailable(code, message)
                .hint(
                    "Try again later. If the message stays the same, show it to the administrator of this server. You can \
                     also sign in with a code by e-mail.",
                )
                .case("provider_misconfigured", reason.clone())
        }
        _ => Problem::unavailable(code, "The sign-in service does not respond.").hint(hint),
    };
    problem.caused_by(error)
}

/// Returns the URL to which an issuer sends the browser back. The operator registers it at the issuer.
fn redirect_uri(api: &Api, provider: &str) -> String {
    format!("{}/v1/auth/oidc/{provider}/callback", api.settings().public_url)
}
