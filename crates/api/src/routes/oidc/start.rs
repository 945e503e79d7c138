//! Starting the sign-in with an issuer.

use application::Problem;
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{auth_request, redirect_uri, unavailable};
use crate::{
    auth::{Ctx, PageVisitor},
    http::{
        error::{ApiResult, ErrorEnvelope},
        extract::{Params, Path},
        pages::{local_path::local_path, redirect::see_other},
    },
    state::Api,
};

/// Page to open after the sign-in.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StartQuery {
    /// A path on this server.
    #[serde(default)]
    next: Option<String>,
}

/// Start the sign-in with an issuer
///
/// For browsers. The response is a redirect.
#[utoipa::path(get, path = "/v1/auth/oidc/{provider}/start", tag = "session", params(("provider" = String, Path, description = "The issuer's name in the operator's configuration."), StartQuery), responses(
    (status = 303, description = "Redirects to the issuer."),
    (status = 404, description = "There is no such issuer. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
    (status = 429, description = "Too many sign-ins were started. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
    (status = 503, description = "The issuer does not respond, or not as it must. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
))]
pub(crate) async fn start_oidc_sign_in(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Path(provider): Path<String>,
    Params(StartQuery { next }): Params<StartQuery>,
) -> ApiResult<Response> {
    api.rate_limits().check_sign_in(ctx.client_ip)?;
    let issuers = &api.oidc_providers();
    let known = issuers.providers().iter().any(|known| known.name == provider);
    if !known {
        return Err(Problem::not_found("provider").into());
    }
    let next = next.as_deref().and_then(local_path).unwrap_or("/sign-in");
    let auth_state = auth_request::generate(ctx.random());
    let url = issuers
        .authorization_url(&provider, &redirect_uri(&api, &provider), &auth_state)
        .await
        .map_err(|error| unavailable(error, "Try again in a moment, or sign in with a code by e-mail."))?;
    let cookie = auth_request::seal_cookie(&api, &provider, &auth_state, next, ctx.now)?;
    Ok(([(header::SET_COOKIE, cookie)], see_other(&url)).into_response())
}
