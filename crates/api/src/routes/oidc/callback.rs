//! Back from an issuer.

use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::Response,
};
use identity::oidc::{IssuerError, Returned};
use kernel::{Problem, ProblemKind};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{redirect_uri, ties};
use crate::{
    envelope::{ApiResult, ErrorEnvelope},
    extract::{Arriving, Ctx, Params, Path},
    pages::Language,
    routes::{
        auth::open_first_workspace,
        front::{local_path, refusal, see_other},
        session::with_cookie,
    },
    state::Api,
};

/// Where somebody starts anew.
const AGAIN: &str = "/sign-in";

/// What an issuer sends the browser back with. Issuers add parameters of their own.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Answer {
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
#[utoipa::path(get, path = "/v1/auth/oidc/{provider}/callback", tag = "session", params(("provider" = String, Path, description = "The issuer's name in the operator's configuration."), Answer), 
    responses(
        (status = 303, description = "To where the person wanted to go."),
        (status = 400, description = "A page: the sign-in is over, or was begun in another browser. The envelope where the query does not fit.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 401, description = "A page: the issuer refused, or what it says does not hold.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 403, description = "A page: the issuer does not vouch for the address.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 404, description = "There is no such issuer. A page for browsers.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 429, description = "Too many sign-ins were tried. A page for browsers.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 503, description = "A page: the issuer does not answer.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
    ))]
pub(crate) async fn finish_oidc_sign_in(
    State(api): State<Api>,
    ctx: Ctx,
    Arriving(arrival): Arriving,
    Path(provider): Path<String>,
    headers: HeaderMap,
    Language(locale): Language,
    Params(answer): Params<Answer>,
) -> ApiResult<Response> {
    api.limits.take_sign_in(ctx.address)?;
    let issuers = &api.services.issuers;
    let known = issuers.providers().iter().find(|known| known.name == provider);
    let known = known.ok_or_else(|| Problem::not_found("provider"))?;
    let over = || {
        Problem::new(
            ProblemKind::Invalid,
            "sign_in_over",
            "This sign-in is over, or was begun in another browser.",
        )
        .hint("Begin again.")
    };
    let state = answer.state.as_deref().unwrap_or_default();
    let Some((ties, next)) = ties::read(&api, &headers, &provider, state, ctx.now) else {
        return Ok(refusal(locale, over(), AGAIN)?);
    };
    let returned = match (answer.code, answer.error) {
        (Some(code), None) => Returned { code: SecretString::from(code), issuer: answer.iss },
        _ => return untied(&api, refusal(locale, over(), AGAIN)?),
    };
    if !api.spent_ties.spend(state) {
        return untied(&api, refusal(locale, over(), AGAIN)?);
    }
    let claims = match issuers.finish(&provider, &redirect_uri(&api, &provider), &returned, &ties).await {
        Ok(claims) => claims,
        // Nothing was decided: the ties stay, and loading the page again tries again. A code that the issuer took
        // after all is refused then.
        Err(error @ IssuerError::Unreachable(_)) => {
            api.spent_ties.give_back(state);
            let problem =
                Problem::unavailable("provider_unavailable", "The sign-in service does not answer.")
                    .hint("Load this page again in a moment, or sign in with a code by e-mail.");
            return Err(problem.caused_by(error).into());
        }
        Err(IssuerError::Refused(reason)) => {
            tracing::warn!(provider, reason, "an issuer's answer was refused");
            let refused = Problem::new(
                ProblemKind::Unauthorized,
                "provider_refused",
                "The sign-in service's answer was refused.",
            );
            return untied(&api, refusal(locale, refused.hint("Begin again."), AGAIN)?);
        }
    };
    let mut tx = api.store().begin().await?;
    let peppers = &api.services.peppers;
    let opened = identity::oidc::oidc_sign_in(&mut *tx, &ctx, peppers, (known, &claims), &arrival).await;
    let mut opened = match opened {
        Ok(opened) => opened,
        Err(error) => return untied(&api, refusal(locale, error.into(), AGAIN)?),
    };
    open_first_workspace(&api, &mut *tx, &ctx, &mut opened).await?;
    tx.commit().await?;
    let next = local_path(&next).unwrap_or("/sign-in");
    untied(&api, with_cookie(&api, Some(&opened.secret), see_other(next))?)
}

/// The same answer, which also takes the ties away.
fn untied(api: &Api, mut response: Response) -> ApiResult<Response> {
    response.headers_mut().append(header::SET_COOKIE, ties::gone(api)?);
    Ok(response)
}
