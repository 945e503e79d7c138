//! The sign-in page.

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use identity::{
    Email, IdentityError,
    sessions::Opened,
    sign_in::{verify_email_link, verify_email_sign_in},
};
use kernel::{Caller, Locale, Problem};
use maud::html;
use secrecy::SecretString;
use serde::Deserialize;

use super::{local_path, refusal, see_other};
use crate::{
    envelope::{ApiError, ApiResult},
    extract::{Arriving, Ctx, Form, Params},
    pages::{Page, page},
    routes::{
        auth::{open_first_workspace, send_mail},
        session::with_cookie,
    },
    state::Api,
};

/// Where to go when nothing else is said: the page says who is signed in.
const HERE: &str = "/sign-in";

#[derive(Deserialize)]
pub(super) struct Next {
    #[serde(default)]
    next: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct StartForm {
    email: String,
    #[serde(default)]
    next: Option<String>,
}

/// What came by mail: the code with its address, or the link's token.
#[derive(Deserialize)]
pub(super) struct MailedForm {
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    next: Option<String>,
}

/// The mailed link.
#[derive(Deserialize)]
pub(super) struct Link {
    token: String,
    #[serde(default)]
    next: Option<String>,
}

fn next_or_here(next: Option<&str>) -> &str {
    next.and_then(local_path).unwrap_or(HERE)
}

/// The form, or who is signed in.
pub(super) async fn show(
    State(api): State<Api>,
    ctx: Ctx,
    Params(Next { next }): Params<Next>,
) -> ApiResult<Response> {
    let next = next.as_deref().and_then(local_path);
    let Caller::Session(session) = &ctx.caller else {
        return Ok(form(&api, next.unwrap_or(HERE)).into_response());
    };
    if let Some(next) = next {
        return Ok(see_other(next));
    }
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let body = html! {
        p { "You are signed in as " strong { (user.email) } "." }
        form method="post" action="/sign-out" { button type="submit" { "Sign out" } }
    };
    Ok(page("Signed in", body).into_response())
}

fn form(api: &Api, next: &str) -> Page {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    let body = html! {
        form method="post" action="/sign-in/start" {
            input type="hidden" name="next" value=(next);
            label { "E-mail address" input type="email" name="email" autocomplete="email" required autofocus; }
            button type="submit" { "Send me a code" }
        }
        @for provider in api.services.issuers.providers() {
            p { a href={ "/v1/auth/oidc/" (provider.name) "/start?" (query) } { "Sign in with " (provider.title) } }
        }
        @if api.config.dev_login {
            form method="post" action="/sign-in/dev" {
                input type="hidden" name="next" value=(next);
                label { "Development sign-in: the address is believed" input type="email" name="email" required; }
                button type="submit" { "Sign in without a code" }
            }
        }
    };
    page("Sign in", body)
}

/// Sends a code and asks for it. The page is the same whether the address is known or not.
pub(super) async fn start(
    State(api): State<Api>,
    ctx: Ctx,
    Form(input): Form<StartForm>,
) -> ApiResult<Response> {
    let next = next_or_here(input.next.as_deref());
    let email: Email = match input.email.parse() {
        Ok(email) => email,
        Err(error) => return Ok(refusal(Problem::from(error))?),
    };
    if let Err(problem) = api.limits.take_sign_in(ctx.address) {
        return Ok(refusal(problem)?);
    }
    if let Err(ApiError(problem)) = send_mail(&api, &ctx, email.clone(), Locale::default(), Some(next)).await
    {
        return Ok(refusal(problem)?);
    }
    let body = html! {
        p { "We have sent a code to " strong { (email) } "." }
        form method="post" action="/sign-in/email" {
            input type="hidden" name="next" value=(next);
            input type="hidden" name="email" value=(email);
            label { "Code"
                input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="6" required autofocus;
            }
            button type="submit" { "Sign in" }
        }
    };
    Ok(page("Sign in", body).into_response())
}

/// Where the mailed link leads. Looking at it uses nothing up, since programs look at links before people do: the
/// button does.
pub(super) async fn landing(_ctx: Ctx, Params(link): Params<Link>) -> ApiResult<Response> {
    let body = html! {
        form method="post" action="/sign-in/email" {
            input type="hidden" name="next" value=(next_or_here(link.next.as_deref()));
            input type="hidden" name="token" value=(link.token);
            button type="submit" { "Sign in" }
        }
    };
    Ok(page("Sign in?", body).into_response())
}

/// Takes the code, or the link's token.
pub(super) async fn verify(
    State(api): State<Api>,
    ctx: Ctx,
    Arriving(arrival): Arriving,
    Form(input): Form<MailedForm>,
) -> ApiResult<Response> {
    if let Err(problem) = api.limits.take_sign_in(ctx.address) {
        return Ok(refusal(problem)?);
    }
    let peppers = &api.services.peppers;
    let mut tx = api.store().begin().await?;
    let mut outcome = match (&input.token, &input.email, &input.code) {
        (Some(token), ..) => verify_email_link(&mut *tx, &ctx, peppers, token, &arrival).await,
        (None, Some(email), Some(code)) => match email.parse::<Email>() {
            Ok(email) => verify_email_sign_in(&mut *tx, &ctx, peppers, &email, code.trim(), &arrival).await?,
            Err(error) => Err(error),
        },
        _ => Err(IdentityError::WrongCode),
    };
    if let Ok(opened) = &mut outcome {
        open_first_workspace(&api, &mut *tx, &ctx, opened).await?;
    }
    tx.commit().await?;
    match outcome {
        Ok(opened) => Ok(enter(&api, &opened, input.next.as_deref())?),
        Err(error) => Ok(refusal(error.into())?),
    }
}

/// The development sign-in.
pub(super) async fn dev(
    State(api): State<Api>,
    ctx: Ctx,
    Arriving(arrival): Arriving,
    Form(input): Form<StartForm>,
) -> ApiResult<Response> {
    if !api.config.dev_login {
        return Err(Problem::not_found("route").into());
    }
    let email: Email = match input.email.parse() {
        Ok(email) => email,
        Err(error) => return Ok(refusal(Problem::from(error))?),
    };
    let mut tx = api.store().begin().await?;
    let peppers = &api.services.peppers;
    let mut opened = identity::sign_in::dev_sign_in(&mut *tx, &ctx, peppers, &email, None, &arrival).await?;
    open_first_workspace(&api, &mut *tx, &ctx, &mut opened).await?;
    tx.commit().await?;
    Ok(enter(&api, &opened, input.next.as_deref())?)
}

fn enter(api: &Api, opened: &Opened, next: Option<&str>) -> Result<Response, Problem> {
    let secret: &SecretString = &opened.secret;
    let next = next_or_here(next);
    // What an agent asks wrongly is answered to it from there, and browsers hold a form's redirects to `form-action`
    // to the last: so this is no redirect.
    let response = if next.starts_with("/oauth/authorize") {
        let body = html! { p { a href=(next) { "Go on" } } };
        page("Signed in", body).goes_on(next).into_response()
    } else {
        see_other(next)
    };
    with_cookie(api, Some(secret), response)
}

/// Signs out.
pub(super) async fn sign_out(State(api): State<Api>, ctx: Ctx) -> ApiResult<Response> {
    if let Caller::Session(session) = &ctx.caller {
        let mut tx = api.store().begin().await?;
        identity::sessions::end_session(&mut *tx, &ctx, session.session).await?;
        tx.commit().await?;
    }
    Ok(with_cookie(&api, None, see_other(HERE))?)
}
