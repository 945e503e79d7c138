//! Returning from an issuer.

use application::{Problem, ProblemKind, unit};
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::Response,
};
use identity::oidc::{AuthorizationError, CallbackParams, OidcError};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{auth_request, redirect_uri, refused, unavailable};
use crate::{
    auth::{Ctx, ExtractSignInClient, PageVisitor, with_session_cookie},
    http::{
        error::{ApiResult, ErrorEnvelope},
        extract::{Params, Path},
        pages::{Language, local_path::local_path, redirect::see_other, refusal::refusal_page},
    },
    state::Api,
};

/// Page on which a person can start again.
const SIGN_IN_PATH: &str = "/sign-in";

/// Query parameters of an issuer's response. Issuers may add others.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CallbackQuery {
    /// The `state` of the request.
    #[serde(default)]
    state: Option<String>,
    /// Authorization code.
    #[serde(default)]
    code: Option<String>,
    /// Identifier of the issuer, if it sends one (RFC 9207).
    #[serde(default)]
    iss: Option<String>,
    /// Error code, if the sign-in failed.
    #[serde(default)]
    error: Option<String>,
}

/// Finish the sign-in with an issuer
///
/// For browsers. The response is a redirect, or a page that says why the sign-in failed.
#[utoipa::path(get, path = "/v1/auth/oidc/{provider}/callback", tag = "session", params(("provider" = String, Path, description = "The issuer's name in the operator's configuration."), CallbackQuery), 
    responses(
        (status = 303, description = "Redirects to the page that the person wanted to open."),
        (status = 400, description = "A page: the sign-in has ended, or was started in another browser. The error envelope if the query does not match the schema.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 401, description = "A page: the issuer refused, or its response is not valid.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 403, description = "A page: the issuer does not vouch for the address.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 404, description = "There is no such issuer. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 429, description = "Too many sign-ins were attempted. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 503, description = "A page: the issuer does not respond, or not as it must.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
    ))]
pub(crate) async fn finish_oidc_sign_in(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    ExtractSignInClient(client): ExtractSignInClient,
    Path(provider): Path<String>,
    headers: HeaderMap,
    Language(locale): Language,
    Params(answer): Params<CallbackQuery>,
) -> ApiResult<Response> {
    api.rate_limits().check_sign_in(ctx.client_ip)?;
    let issuers = &api.oidc_providers();
    let known = issuers.providers().iter().find(|known| known.name == provider);
    let known = known.ok_or_else(|| Problem::not_found("provider"))?;
    let sign_in_over = || {
        Problem::new(
            ProblemKind::Invalid,
            "sign_in_over",
            "This sign-in has ended, or was started in another browser.",
        )
        .hint("Start again.")
    };
    let state = answer.state.as_deref().unwrap_or_default();
    let Some((auth_state, next)) = auth_request::open_cookie(&api, &headers, &provider, state, ctx.now)
    else {
        return Ok(refusal_page(locale, sign_in_over(), SIGN_IN_PATH)?);
    };
    let error = answer.error.as_deref().and_then(AuthorizationError::parse);
    let code = answer.code.filter(|code| !code.is_empty());
    let returned = match (code, error) {
        (Some(code), None) => CallbackParams { code: SecretString::from(code), issuer: answer.iss },
        (_, error) => {
            let code = error.as_ref().map_or("none", AuthorizationError::code);
            tracing::warn!(provider, error = code, "issuer's response is an error, or has no code");
            return with_cookie_removed(&api, refusal_page(locale, refused(error.as_ref()), SIGN_IN_PATH)?);
        }
    };
    if !api.auth_states().consume(state) {
        return with_cookie_removed(&api, refusal_page(locale, sign_in_over(), SIGN_IN_PATH)?);
    }
    let claims = match issuers
        .exchange_code(&provider, &redirect_uri(&api, &provider), &returned, &auth_state, ctx.now)
        .await
    {
        Ok(claims) => claims,
        // The sign-in is undecided: the cookie stays, so that reloading the page tries again. If the issuer accepted
        // the code after all, the second attempt is refused.
        Err(error @ (OidcError::Unreachable(_) | OidcError::InvalidResponse(_))) => {
            api.auth_states().restore(state);
            let hint = "Load this page again in a moment, or sign in with a code by e-mail.";
            return Err(unavailable(error, hint).into());
        }
        Err(OidcError::Refused(reason)) => {
            tracing::warn!(provider, reason, "issuer's response refused");
            return with_cookie_removed(&api, refusal_page(locale, refused(None), SIGN_IN_PATH)?);
        }
    };
    let peppers = api.peppers();
    let opened = api
        .transaction(unit!(|tx| {
            let mut opened =
                identity::oidc::oidc_sign_in(tx, &ctx, peppers, (known, &claims), &client).await?;
            api.open_first_workspace(tx, &ctx, &mut opened).await?;
            Ok::<_, Problem>(opened)
        }))
        .await;
    let opened = match opened {
        Ok(opened) => opened,
        Err(problem) => return with_cookie_removed(&api, refusal_page(locale, problem, SIGN_IN_PATH)?),
    };
    let next = local_path(&next).unwrap_or("/sign-in");
    with_cookie_removed(&api, with_session_cookie(&api, Some(&opened.secret), see_other(next))?)
}

/// Adds the deletion of the cookie to a response.
fn with_cookie_removed(api: &Api, mut response: Response) -> ApiResult<Response> {
    response.headers_mut().append(header::SET_COOKIE, auth_request::removal_cookie(api)?);
    Ok(response)
}
