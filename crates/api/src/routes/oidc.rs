//! Sign-in with an OpenID Connect issuer. Browsers open both URLs, and get redirects and pages.

mod auth_request;
mod callback;
mod callback_form;
mod start;

use std::borrow::Cow;

use application::{Problem, ProblemKind};
use axum::middleware;
use identity::oidc::{AuthorizationError, OidcError};
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
                    "Try again later. If the message stays the same, show it to the administrator of this server. \
                     You can also sign in with a code by e-mail.",
                )
                .case("provider_misconfigured", reason.clone())
        }
        _ => Problem::unavailable(code, "The sign-in service does not respond.").hint(hint),
    };
    problem.caused_by(error)
}

/// Returns the problem of a sign-in that the issuer refused with this error, or whose response is not valid.
fn refused(error: Option<&AuthorizationError>) -> Problem {
    const RETRY: &str = "Start again in a moment. If it happens again, show this message to the administrator of this server.";
    const ASK: &str = "Start again. If you did not cancel it, the sign-in service does not let you in: ask its administrator.";
    let problem =
        |message: Cow<'static, str>| Problem::new(ProblemKind::Unauthorized, "provider_refused", message);
    match error {
        None => problem("The response of the sign-in service was refused.".into()).hint("Start again."),
        Some(AuthorizationError::Cancelled(_)) => {
            let problem = problem("You cancelled the sign-in at the sign-in service.".into());
            problem.hint(ASK).case("provider_cancelled", "")
        }
        Some(AuthorizationError::Standard(code)) => {
            let problem = problem(format!("The sign-in service refused the sign-in: {code}.").into());
            problem.hint(RETRY).case("provider_denied", *code)
        }
        Some(AuthorizationError::Other(_)) => {
            let problem = problem("The sign-in service refused the sign-in.".into());
            problem.hint(RETRY).case("provider_error", "")
        }
    }
}

/// Returns the URL to which an issuer sends the browser back. The operator registers it at the issuer.
fn redirect_uri(api: &Api, provider: &str) -> String {
    format!("{}/v1/auth/oidc/{provider}/callback", api.settings().public_url)
}
