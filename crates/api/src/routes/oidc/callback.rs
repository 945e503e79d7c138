//! Back from an issuer.

use application::unit;
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::Response,
};
use identity::oidc::{CallbackParams, OidcError};
use kernel::{Problem, ProblemKind};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{auth_request, redirect_uri};
use crate::{
    auth::{Ctx, ExtractSignInClient, PageVisitor, with_session_cookie},
    http::{
        error::{ApiResult, ErrorEnvelope},
        extract::{Params, Path},
        pages::{Language, local_path::local_path, redirect::see_other, refusal::refusal_page},
    },
    state::Api,
};

/// Where somebody starts anew.
const SIGN_IN_PATH: &str = "/sign-in";

/// What an issuer sends the browser back with. Issuers add parameters of their own.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CallbackQuery {
    /// What was sent along on the way there.
    #[serde(default)]
    state: Option<String>,
    /// What the issuer's word is exchanged for.
    #[serde(default)]
    code: Option<String>,
    /// Who the issuer is, where it says so (RFC 9207).
    #[serde(default)]
    iss: Option<String>,
    /// Why there is none.
    #[serde(default)]
    error: Option<String>,
}

/// Come back from an issuer, signed in
///
/// For browsers: the answer is a redirect, or a page that says why not.
#[utoipa::path(get, path = "/v1/auth/oidc/{provider}/callback", tag = "session", params(("provider" = String, Path, description = "The issuer's name in the operator's configuration."), CallbackQuery), 
    responses(
        (status = 303, description = "Redirects to the page that the person wanted to open."),
        (status = 400, description = "A page: the sign-in has ended, or was started in another browser. The error envelope if the query does not match the schema.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 401, description = "A page: the issuer refused, or its response is not valid.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 403, description = "A page: the issuer does not vouch for the address.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 404, description = "There is no such issuer. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 429, description = "Too many sign-ins were attempted. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 503, description = "A page: the issuer does not respond.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
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
            "This sign-in is over, or was begun in another browser.",
        )
        .hint("Begin again.")
    };
    let state = answer.state.as_deref().unwrap_or_default();
    let Some((auth_state, next)) = auth_request::open_cookie(&api, &headers, &provider, state, ctx.now)
    else {
        return Ok(refusal_page(locale, sign_in_over(), SIGN_IN_PATH)?);
    };
    let returned = match (answer.code, answer.error) {
        (Some(code), None) => CallbackParams { code: SecretString::from(code), issuer: answer.iss },
        _ => return with_cookie_removed(&api, refusal_page(locale, sign_in_over(), SIGN_IN_PATH)?),
    };
    if !api.auth_states().consume(state) {
        return with_cookie_removed(&api, refusal_page(locale, sign_in_over(), SIGN_IN_PATH)?);
    }
    let claims = match issuers
        .exchange_code(&provider, &redirect_uri(&api, &provider), &returned, &auth_state)
        .await
    {
        Ok(claims) => claims,
        // Nothing was decided: the ties stay, and loading the page again tries again. A code that the issuer took
        // after all is refused then.
        Err(error @ OidcError::Unreachable(_)) => {
            api.auth_states().restore(state);
            let problem =
                Problem::unavailable("provider_unavailable", "The sign-in service does not answer.")
                    .hint("Load this page again in a moment, or sign in with a code by e-mail.");
            return Err(problem.caused_by(error).into());
        }
        Err(OidcError::Refused(reason)) => {
            tracing::warn!(provider, reason, "an issuer's answer was refused");
            let refused = Problem::new(
                ProblemKind::Unauthorized,
                "provider_refused",
                "The sign-in service's answer was refused.",
            );
            return with_cookie_removed(
                &api,
                refusal_page(locale, refused.hint("Begin again."), SIGN_IN_PATH)?,
            );
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

/// The same answer, which also takes the ties away.
fn with_cookie_removed(api: &Api, mut response: Response) -> ApiResult<Response> {
    response.headers_mut().append(header::SET_COOKIE, auth_request::removal_cookie(api)?);
    Ok(response)
}
