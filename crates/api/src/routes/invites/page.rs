//! The page that an invite's link leads to. Looking at it changes nothing, since mail scanners follow links; a form
//! accepts.

use axum::{
    Extension,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
};
use identity::User;
use kernel::{Caller, Context, Locale, Problem, ProblemKind, caller::SessionCaller, token};
use maud::{Markup, html};
use workspace::{
    WorkspaceError,
    invites::{Invite, look_at_invite, preview_invite},
};

use super::accept::accept;
use crate::{
    credentials::{self, Presented},
    door::Entry,
    envelope::ApiResult,
    extract::check_own_page,
    pages::{Page, fill, filled, language, page, words},
    routes::front::{other_account, sign_in_path},
    state::Api,
};

/// Shows what the link leads to.
pub(super) async fn show(
    State(api): State<Api>,
    Path(token): Path<String>,
    Extension(entry): Extension<Entry>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let locale = language(&headers);
    let ctx = context(&api, &entry, &headers, 1).await?;
    let peppers = &api.services.peppers;
    let Some((session, user)) = person(&api, &ctx).await? else { return Ok(sign_in(locale, &token)) };
    let email = user.email.as_str();
    let invite = match look_at_invite(api.store(), &ctx, peppers, email, &token).await {
        Ok(invite) => invite,
        Err(WorkspaceError::InviteAccepted) => return Ok(already_in(&api, locale, &ctx, &session).await?),
        Err(error) => return refused(locale, error.into(), &token),
    };
    let (name, about) = about(&api, locale, &invite).await?;
    let words = words(locale);
    let here = path(&token);
    let body = html! {
        (about)
        p { (fill(words.signed_in_as, &[html! { (user.email) }])) }
        form method="post" { button type="submit" { (words.accept) } }
        (other_account(words, &here))
    };
    Ok(page(locale, filled(words.join, &[&name]), body).at(&here).into_response())
}

/// Who invites into what, as what, and until when; with the workspace's name.
async fn about(api: &Api, locale: Locale, invite: &Invite) -> Result<(String, Markup), Problem> {
    let workspace = api.store().workspace(invite.workspace).await?;
    let workspace = workspace.ok_or(WorkspaceError::InviteNotFound)?;
    let inviter = api.store().users(&[invite.invited_by]).await?.pop();
    let words = words(locale);
    let known = [
        inviter.as_ref().map_or_else(|| html! {}, |inviter| html! { (inviter.name) }),
        html! { strong { (workspace.name) } },
        html! { strong { ((words.roles)(invite.role.role())) } },
    ];
    let sentence = if inviter.is_some() { words.invites_you } else { words.you_are_invited };
    let about = html! {
        p { (fill(sentence, &known)) }
        @if let Some(end) = invite.access_ends_at {
            p { (filled(words.access_ends, &[&end.format("%Y-%m-%d %H:%M UTC").to_string()])) }
        }
    };
    Ok((workspace.name, about))
}

/// What is shown above the sign-in form to whoever is on the way to the invite at `next`: a title, and who invites into
/// what. Whoever has the link may know; what no longer waits is told to its own person alone, once signed in.
pub(crate) async fn preview(
    api: &Api,
    locale: Locale,
    ctx: &Context,
    next: &str,
) -> Result<Option<(String, Markup)>, Problem> {
    let Some(token) = next.strip_prefix("/invite/") else { return Ok(None) };
    let Some(invite) = preview_invite(api.store(), ctx, &api.services.peppers, token).await? else {
        return Ok(None);
    };
    let (name, about) = about(api, locale, &invite).await?;
    let words = words(locale);
    let above = html! {
        (about)
        p.quiet { (words.with_that_address) }
    };
    Ok(Some((filled(words.join, &[&name]), above)))
}

/// The page of a token that was found to be one.
fn path(token: &str) -> String {
    format!("/invite/{token}")
}

/// Accepts the invite, and shows the page again.
pub(super) async fn accept_form(
    State(api): State<Api>,
    Path(token): Path<String>,
    Extension(entry): Extension<Entry>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    check_own_page(&api, &headers)?;
    let locale = language(&headers);
    let ctx = context(&api, &entry, &headers, 5).await?;
    let Some((session, user)) = person(&api, &ctx).await? else { return Ok(sign_in(locale, &token)) };
    match accept(&api, &ctx, session, &user, &token).await {
        Ok(_) => {}
        // A second press of the button.
        Err(problem) if problem.code == "invite_accepted" => {}
        Err(problem) => return refused(locale, problem, &token),
    }
    Ok(Redirect::to(&format!("/invite/{token}")).into_response())
}

/// The context of a page's request. A page takes the session's cookie alone.
async fn context(api: &Api, entry: &Entry, headers: &HeaderMap, cost: u32) -> Result<Context, Problem> {
    let presented = match credentials::presented(api, headers) {
        Presented::Bearer(_) => Presented::Nothing,
        presented => presented,
    };
    let now = api.services.clock.now();
    let caller = api.caller(&presented, now).await?;
    api.limits.take(caller.user(), entry.address, cost)?;
    let random = std::sync::Arc::clone(&api.services.random);
    Ok(Context::new(caller, now, entry.request, entry.address, random))
}

async fn person(api: &Api, ctx: &Context) -> Result<Option<(SessionCaller, User)>, Problem> {
    match &ctx.caller {
        Caller::Session(_) => api.person(ctx).await.map(Some),
        _ => Ok(None),
    }
}

/// Signing in comes back here. What is no token leads nowhere, so that no other path can be smuggled in.
fn sign_in(locale: Locale, token: &str) -> Response {
    if token::recognize(token) == Some(token::TokenKind::Invite) {
        Redirect::to(&sign_in_path(&path(token))).into_response()
    } else {
        gone(locale).into_response()
    }
}

async fn already_in(
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
    let words = words(locale);
    let body = html! {
        p { (words.accepted) }
        @if let Some(workspace) = &workspace {
            p { (fill(words.is_open, &[html! { strong { (workspace.name) } }])) }
        }
        p { a.button href="/sign-in" { (words.proceed) } }
    };
    Ok(page(locale, words.you_are_in, body).into_response())
}

fn gone(locale: Locale) -> Page {
    let words = words(locale);
    let body = html! {
        p { (words.invite_gone_why) }
        p { (words.invite_gone_next) }
    };
    page(locale, words.invite_gone, body).status(StatusCode::NOT_FOUND)
}

/// A refusal as a page; what is our own fault is told like everywhere.
fn refused(locale: Locale, problem: Problem, token: &str) -> ApiResult<Response> {
    let status = match problem.kind {
        ProblemKind::NotFound => return Ok(gone(locale).into_response()),
        ProblemKind::Forbidden => StatusCode::FORBIDDEN,
        ProblemKind::Conflict => StatusCode::CONFLICT,
        _ => return Err(problem.into()),
    };
    let words = words(locale);
    let here = path(token);
    let body = html! {
        (words.refusal(&problem))
        @if status == StatusCode::FORBIDDEN { (other_account(words, &here)) }
    };
    Ok(page(locale, words.invite_refused, body).at(&here).status(status).into_response())
}
