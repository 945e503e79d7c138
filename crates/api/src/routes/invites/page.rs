//! The page that an invite links to. Opening it changes nothing, since mail scanners open links; its form accepts the
//! invite.

use axum::{
    Extension,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
};
use identity::User;
use kernel::{Caller, Context, Locale, caller::SessionCaller, token};
use maud::{Markup, html};
use workspace::{
    WorkspaceError,
    invites::{Invite, inspect_invite, preview_invite},
};

use super::accept::accept;
use crate::{
    auth::{check_page_origin, credentials},
    http::{
        error::ApiResult,
        pages::{
            Page, format_markup, format_text, negotiate_locale, page, redirect::sign_in_path,
            refusal::other_account, translations,
        },
        request_middleware::RequestInfo,
    },
    state::Api,
};
use application::{Problem, ProblemKind, authentication::Credential};

/// Shows the invite, or what became of it.
pub(super) async fn show(
    State(api): State<Api>,
    Path(token): Path<String>,
    Extension(info): Extension<RequestInfo>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let locale = negotiate_locale(&headers);
    let ctx = page_context(&api, &info, &headers, 1).await?;
    let peppers = api.peppers();
    let Some((session, user)) = find_signed_in_user(&api, &ctx).await? else {
        return Ok(redirect_to_sign_in(locale, &token));
    };
    let email = user.email.as_str();
    let invite = match inspect_invite(api.store(), &ctx, peppers, email, &token).await {
        Ok(invite) => invite,
        Err(WorkspaceError::InviteAccepted) => {
            return Ok(already_member_page(&api, locale, &ctx, &session).await?);
        }
        Err(error) => return refusal_page(locale, error.into(), &token),
    };
    let (name, about) = invite_summary(&api, locale, &invite).await?;
    let words = translations(locale);
    let here = invite_path(&token);
    let body = html! {
        (about)
        p { (format_markup(words.signed_in_as, &[html! { (user.email) }])) }
        form method="post" { button type="submit" { (words.accept) } }
        (other_account(words, &here))
    };
    Ok(page(locale, format_text(words.join, &[&name]), body)
        .at_path(&here)
        .with_console(&api)
        .into_response())
}

/// Returns the workspace's name, and a text that says who invites to which role, and until when.
async fn invite_summary(api: &Api, locale: Locale, invite: &Invite) -> Result<(String, Markup), Problem> {
    let workspace = api.store().workspace(invite.workspace).await?;
    let workspace = workspace.ok_or(WorkspaceError::InviteNotFound)?;
    let inviter = api.store().users(&[invite.invited_by]).await?.pop();
    let words = translations(locale);
    let known = [
        inviter.as_ref().map_or_else(|| html! {}, |inviter| html! { (inviter.name) }),
        html! { strong { (workspace.name) } },
        html! { strong { ((words.roles)(invite.role.role())) } },
    ];
    let sentence = if inviter.is_some() { words.invites_you } else { words.you_are_invited };
    let about = html! {
        p { (format_markup(sentence, &known)) }
        @if let Some(end) = invite.access_ends_at {
            p { (format_text(words.access_ends, &[&end.format("%Y-%m-%d %H:%M UTC").to_string()])) }
        }
    };
    Ok((workspace.name, about))
}

/// Returns the title and the text above the sign-in form for a person on the way to the invite at `next`. Anybody with
/// the link may see them while the invite is pending. After that, only the invited person gets to know more, once
/// signed in.
pub(crate) async fn invite_preview(
    api: &Api,
    locale: Locale,
    ctx: &Context,
    next: &str,
) -> Result<Option<(String, Markup)>, Problem> {
    let Some(token) = next.strip_prefix("/invite/") else { return Ok(None) };
    let Some(invite) = preview_invite(api.store(), ctx, api.peppers(), token).await? else {
        return Ok(None);
    };
    let (name, about) = invite_summary(api, locale, &invite).await?;
    let words = translations(locale);
    let above = html! {
        (about)
        p.quiet { (words.with_that_address) }
    };
    Ok(Some((format_text(words.join, &[&name]), above)))
}

/// Returns the path of the page for a valid token.
fn invite_path(token: &str) -> String {
    format!("/invite/{token}")
}

/// Accepts the invite, and shows the page again.
pub(super) async fn accept_form(
    State(api): State<Api>,
    Path(token): Path<String>,
    Extension(info): Extension<RequestInfo>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    check_page_origin(&api, &headers)?;
    let locale = negotiate_locale(&headers);
    let ctx = page_context(&api, &info, &headers, 5).await?;
    let Some((session, user)) = find_signed_in_user(&api, &ctx).await? else {
        return Ok(redirect_to_sign_in(locale, &token));
    };
    match accept(&api, &ctx, session, &user, &token).await {
        Ok(_) => {}
        // The button was pressed twice.
        Err(problem) if problem.code == "invite_accepted" => {}
        Err(problem) => return refusal_page(locale, problem, &token),
    }
    Ok(Redirect::to(&format!("/invite/{token}")).into_response())
}

/// Returns the context of a request for a page. Pages accept only the session cookie.
async fn page_context(
    api: &Api,
    info: &RequestInfo,
    headers: &HeaderMap,
    cost: u32,
) -> Result<Context, Problem> {
    let presented = match credentials::request_credential(api, headers) {
        Credential::Bearer(_) => Credential::Absent,
        presented => presented,
    };
    let now = api.now();
    let caller = api.caller(&presented, now).await?;
    api.rate_limits().check(caller.user(), info.address, cost)?;
    Ok(api.context_at(now, caller, info.request_id, info.address))
}

async fn find_signed_in_user(api: &Api, ctx: &Context) -> Result<Option<(SessionCaller, User)>, Problem> {
    match &ctx.caller {
        Caller::Session(_) => api.signed_in_user(ctx).await.map(Some),
        _ => Ok(None),
    }
}

/// Redirects to the sign-in page, which returns here. A text that is not a token gets "not found", so that no other
/// path can be smuggled in.
fn redirect_to_sign_in(locale: Locale, token: &str) -> Response {
    if token::detect_kind(token) == Some(token::TokenKind::Invite) {
        Redirect::to(&sign_in_path(&invite_path(token))).into_response()
    } else {
        not_found_page(locale).into_response()
    }
}

async fn already_member_page(
    api: &Api,
    locale: Locale,
    ctx: &Context,
    session: &SessionCaller,
) -> Result<Response, Problem> {
    let fact = match session.workspace {
        Some(workspace) => api.store().membership(workspace, session.user).await?,
        None => None,
    };
    let current = fact.filter(|fact| fact.access_ends_at.is_none_or(|end| ctx.now < end));
    let workspace = match current {
        Some(fact) => api.store().workspace(fact.workspace).await?,
        None => None,
    };
    let words = translations(locale);
    let body = html! {
        p { (words.accepted) }
        @if let Some(workspace) = &workspace {
            p { (format_markup(words.is_open, &[html! { strong { (workspace.name) } }])) }
        }
        p { a.button href="/sign-in" { (words.proceed) } }
    };
    Ok(page(locale, words.you_are_in, body).into_response())
}

fn not_found_page(locale: Locale) -> Page {
    let words = translations(locale);
    let body = html! {
        p { (words.invite_gone_why) }
        p { (words.invite_gone_next) }
    };
    page(locale, words.invite_gone, body).status(StatusCode::NOT_FOUND)
}

/// Returns a page for a refusal. Server errors are returned as they are.
fn refusal_page(locale: Locale, problem: Problem, token: &str) -> ApiResult<Response> {
    let status = match problem.kind {
        ProblemKind::NotFound => return Ok(not_found_page(locale).into_response()),
        ProblemKind::Forbidden => StatusCode::FORBIDDEN,
        ProblemKind::Conflict => StatusCode::CONFLICT,
        _ => return Err(problem.into()),
    };
    let words = translations(locale);
    let here = invite_path(token);
    let body = html! {
        (words.error_markup(&problem))
        @if status == StatusCode::FORBIDDEN { (other_account(words, &here)) }
    };
    Ok(page(locale, words.invite_refused, body).at_path(&here).status(status).into_response())
}
