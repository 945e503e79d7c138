//! The sign-in page.

use application::{Problem, ProblemKind, unit};
use axum::{
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use identity::{
    Email, IdentityError,
    sessions::OpenedSession,
    sign_in::{verify_email_link, verify_email_sign_in},
};
use kernel::{Caller, Locale};
use maud::{Markup, html};
use secrecy::SecretString;
use serde::Deserialize;

use crate::{
    auth::{Ctx, ExtractSignInClient, PageVisitor, with_session_cookie},
    http::{
        error::{ApiError, ApiResult},
        extract::{Form, Params, read_body},
        pages::{
            Language, Page, format_markup, format_text,
            local_path::local_path,
            page,
            redirect::{see_other, sign_in_path},
            refusal::{other_account, refusal_page},
            translations,
        },
    },
    routes::{
        auth::{email_start::send_sign_in_email, email_verify::digits_of},
        invites::page::invite_preview,
    },
    state::Api,
};

/// Default target after a sign-in: this page shows who is signed in.
const HERE: &str = "/sign-in";
/// Maximum length of a form with a path, in bytes.
const MAX_SIGN_OUT_BYTES: usize = 8 << 10;

#[derive(Deserialize)]
pub(super) struct NextQuery {
    #[serde(default)]
    next: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct StartForm {
    email: String,
    #[serde(default)]
    next: Option<String>,
    /// Language of the e-mail. Default: that of the page.
    #[serde(default)]
    locale: Option<String>,
}

/// Code with its e-mail address, or token of the link.
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

/// Query parameters of the e-mailed link.
#[derive(Deserialize)]
pub(super) struct EmailLinkQuery {
    token: String,
    #[serde(default)]
    next: Option<String>,
}

fn next_or_default(next: Option<&str>) -> &str {
    next.and_then(local_path).unwrap_or(HERE)
}

/// Shows the sign-in form, or who is signed in.
pub(super) async fn show(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Language(locale): Language,
    Params(NextQuery { next }): Params<NextQuery>,
) -> ApiResult<Response> {
    let next = next.as_deref().and_then(local_path);
    let Caller::Session(session) = &ctx.caller else {
        let next = next.unwrap_or(HERE);
        let invited = invite_preview(&api, locale, &ctx, next).await?;
        return Ok(sign_in_form(&api, locale, next, invited).into_response());
    };
    if let Some(next) = next {
        return Ok(see_other(next));
    }
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let workspaces = api.store().workspaces_of(session.user, ctx.now).await?;
    let words = translations(locale);
    let body = html! {
        p { (format_markup(words.signed_in_as, &[html! { strong { (user.email) } }])) }
        @if workspaces.is_empty() {
            p { (words.no_workspaces) }
        } @else {
            h2 { (words.workspaces) }
            ul {
                @for workspace in &workspaces {
                    li { strong { (workspace.name) } " (" ((words.roles)(workspace.role)) ")" }
                }
            }
        }
        p { a href="/device" { (words.device) } }
        p { a href="/docs" { (words.reference) } }
        (other_account(words, HERE))
        form method="post" action="/sign-out" { button.second type="submit" { (words.sign_out) } }
    };
    Ok(page(locale, words.signed_in, body).at_path(HERE).with_console(&api).into_response())
}

fn sign_in_form(api: &Api, locale: Locale, next: &str, invited: Option<(String, Markup)>) -> Page {
    let words = translations(locale);
    let (title, above) = invited.unwrap_or_else(|| (words.sign_in.to_owned(), html! {}));
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    let body = html! {
        (above)
        form method="post" action="/sign-in/start" {
            input type="hidden" name="next" value=(next);
            input type="hidden" name="locale" value=(locale);
            label { (words.email) input type="email" name="email" autocomplete="email" required autofocus; }
            @if api.settings().dev_login {
                p { (words.dev_note) }
                // The first button is the one that Enter presses.
                button type="submit" formaction="/sign-in/dev" { (words.dev_button) }
                button.second type="submit" { (words.send_code) }
            } @else {
                button type="submit" { (words.send_code) }
            }
        }
        @for provider in api.oidc_providers().providers() {
            a.button href={ "/v1/auth/oidc/" (provider.name) "/start?" (query) } {
                (format_text(words.sign_in_with, &[&provider.title]))
            }
        }
    };
    page(locale, title, body).at_path(&sign_in_path(next)).with_console(api)
}

/// Sends a code and asks for it. The page does not reveal whether the address is known.
pub(super) async fn start(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Language(shown): Language,
    Form(input): Form<StartForm>,
) -> ApiResult<Response> {
    let next = next_or_default(input.next.as_deref());
    let locale = input.locale.as_deref().and_then(|locale| locale.parse().ok()).unwrap_or(shown);
    let again = sign_in_path(next);
    let Ok(email) = input.email.parse::<Email>() else {
        return Ok(refusal_page(locale, invalid_email(), &again)?);
    };
    if let Err(problem) = api.rate_limits().check_sign_in(ctx.client_ip) {
        return Ok(refusal_page(locale, problem, &again)?);
    }
    if let Err(ApiError(problem)) = send_sign_in_email(&api, &ctx, email.clone(), locale, Some(next)).await {
        return Ok(refusal_page(locale, problem, &again)?);
    }
    let words = translations(locale);
    let sent = html! { p { (format_markup(words.code_sent, &[html! { strong { (email) } }])) } };
    Ok(code_form(locale, &email, next, &sent).into_response())
}

/// Returns the error for a text that is not an address. Only these pages use its code, and have translations for it.
fn invalid_email() -> Problem {
    Problem::new(ProblemKind::Invalid, "invalid_email", "This is not a valid e-mail address.")
}

/// Returns the form for a code, with alternatives if no e-mail has arrived.
fn code_form(locale: Locale, email: &Email, next: &str, before: &Markup) -> Page {
    let words = translations(locale);
    let body = html! {
        (before)
        form method="post" action="/sign-in/email" {
            input type="hidden" name="next" value=(next);
            input type="hidden" name="email" value=(email);
            label { (words.code)
                input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="32" required autofocus;
            }
            button type="submit" { (words.sign_in) }
        }
        form method="post" action="/sign-in/start" {
            input type="hidden" name="next" value=(next);
            input type="hidden" name="email" value=(email);
            input type="hidden" name="locale" value=(locale);
            button.link type="submit" { (words.resend) }
        }
        p { a href=(sign_in_path(next)) { (words.other_address) } }
    };
    page(locale, words.sign_in, body)
}

/// Shows the page of the e-mailed link. Opening it does not use up the token, since programs open links before people
/// do; its button does.
pub(super) async fn show_email_link(
    State(api): State<Api>,
    _ctx: Ctx<PageVisitor>,
    Language(locale): Language,
    Params(link): Params<EmailLinkQuery>,
) -> ApiResult<Response> {
    let words = translations(locale);
    let body = html! {
        form method="post" action="/sign-in/email" {
            input type="hidden" name="next" value=(next_or_default(link.next.as_deref()));
            input type="hidden" name="token" value=(link.token);
            button type="submit" { (words.sign_in) }
        }
    };
    Ok(page(locale, words.sign_in_question, body).with_console(&api).into_response())
}

/// Signs in with a code or the token of a link.
pub(super) async fn verify(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Language(locale): Language,
    ExtractSignInClient(client): ExtractSignInClient,
    Form(input): Form<MailedForm>,
) -> ApiResult<Response> {
    let next = next_or_default(input.next.as_deref());
    if let Err(problem) = api.rate_limits().check_sign_in(ctx.client_ip) {
        return Ok(refusal_page(locale, problem, &sign_in_path(next))?);
    }
    let peppers = api.peppers();
    let outcome = api
        .transaction(unit!(|tx| {
            let mut outcome = match (&input.token, &input.email, &input.code) {
                (Some(token), ..) => verify_email_link(tx, &ctx, peppers, token, &client).await,
                (None, Some(email), Some(code)) => match email.parse::<Email>() {
                    Ok(email) => {
                        verify_email_sign_in(tx, &ctx, peppers, &email, &digits_of(code), &client).await?
                    }
                    Err(error) => Err(error),
                },
                _ => Err(IdentityError::InvalidCode),
            };
            if let Ok(opened) = &mut outcome {
                api.open_first_workspace(tx, &ctx, opened).await?;
            }
            Ok::<_, Problem>(outcome)
        }))
        .await?;
    let address = input.email.as_deref().and_then(|email| email.parse::<Email>().ok());
    match (outcome, address, &input.token) {
        (Ok(opened), ..) => Ok(complete_sign_in(&api, locale, &opened, input.next.as_deref())?),
        // The person may have attempts left, and can enter the code again.
        (Err(IdentityError::InvalidCode), Some(email), None) => {
            let problem = Problem::from(IdentityError::InvalidCode);
            let before = html! { div.alarm { (translations(locale).error_markup(&problem)) } };
            Ok(code_form(locale, &email, next, &before).status(StatusCode::UNAUTHORIZED).into_response())
        }
        (Err(error), ..) => Ok(refusal_page(locale, error.into(), &sign_in_path(next))?),
    }
}

/// Signs in for development.
pub(super) async fn dev_sign_in(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Language(locale): Language,
    ExtractSignInClient(client): ExtractSignInClient,
    Form(input): Form<StartForm>,
) -> ApiResult<Response> {
    if !api.settings().dev_login {
        return Err(Problem::not_found("route").into());
    }
    let Ok(email) = input.email.parse::<Email>() else {
        let again = sign_in_path(next_or_default(input.next.as_deref()));
        return Ok(refusal_page(locale, invalid_email(), &again)?);
    };
    let peppers = api.peppers();
    let opened = api
        .transaction(unit!(|tx| {
            let mut opened = identity::sign_in::dev_sign_in(tx, &ctx, peppers, &email, None, &client).await?;
            api.open_first_workspace(tx, &ctx, &mut opened).await?;
            Ok::<_, Problem>(opened)
        }))
        .await?;
    Ok(complete_sign_in(&api, locale, &opened, input.next.as_deref())?)
}

fn complete_sign_in(
    api: &Api,
    locale: Locale,
    opened: &OpenedSession,
    next: Option<&str>,
) -> Result<Response, Problem> {
    let secret: &SecretString = &opened.secret;
    let next = next_or_default(next);
    // The authorization endpoint may redirect to the client with an error. Browsers apply `form-action` to all
    // redirects of a form, so the response is a page instead of a redirect.
    let response = if next.starts_with("/oauth/authorize") {
        let words = translations(locale);
        let body = html! { p { a href=(next) { (words.proceed) } } };
        page(locale, words.signed_in, body).redirect_to(next).into_response()
    } else {
        see_other(next)
    };
    with_session_cookie(api, Some(secret), response)
}

/// Signs out.
pub(super) async fn sign_out(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    request: Request,
) -> ApiResult<Response> {
    // The path to continue to is optional.
    let body = read_body(request, MAX_SIGN_OUT_BYTES).await?;
    let next = url::form_urlencoded::parse(&body).find(|(name, _)| name == "next");
    let next = next.map(|(_, next)| next.into_owned());
    if let Caller::Session(session) = &ctx.caller {
        api.transaction(unit!(|tx| identity::sessions::end_session(tx, &ctx, session.session).await)).await?;
    }
    Ok(with_session_cookie(&api, None, see_other(next_or_default(next.as_deref())))?)
}
