//! The page that an invite's link leads to. Looking at it changes nothing, since mail scanners follow links; a form
//! accepts.

use axum::{
    Extension,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
};
use identity::User;
use kernel::{Caller, Context, Problem, ProblemKind, caller::SessionCaller, token};
use maud::html;
use workspace::{WorkspaceError, invites::look_at_invite};

use super::accept::accept;
use crate::{
    credentials::{self, Presented},
    door::Entry,
    envelope::ApiResult,
    extract::check_own_page,
    pages::{Page, page},
    state::Api,
};

/// Shows what the link leads to.
pub(super) async fn show(
    State(api): State<Api>,
    Path(token): Path<String>,
    Extension(entry): Extension<Entry>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let ctx = context(&api, &entry, &headers, 1).await?;
    let Some((session, user)) = person(&api, &ctx).await? else { return Ok(sign_in(&token)) };
    let peppers = &api.services.peppers;
    let email = user.email.as_str();
    let invite = match look_at_invite(api.store(), &ctx, peppers, email, &token).await {
        Ok(invite) => invite,
        Err(WorkspaceError::InviteAccepted) => return Ok(already_in(&api, &ctx, &session).await?),
        Err(error) => return refused(error.into()),
    };
    let workspace = api.store().workspace(invite.workspace).await?;
    let workspace = workspace.ok_or(WorkspaceError::InviteNotFound)?;
    let inviter = api.store().users(&[invite.invited_by]).await?.pop();
    let body = html! {
        p {
            @if let Some(inviter) = &inviter { (inviter.name) " invites you" } @else { "You are invited" }
            " to the workspace " strong { (workspace.name) } ", as " strong { (invite.role.role()) } "."
        }
        @if let Some(end) = invite.access_ends_at {
            p { "Your access would end on " (end.format("%Y-%m-%d %H:%M UTC")) "." }
        }
        p { "You are signed in as " strong { (user.email) } "." }
        form method="post" { button type="submit" { "Accept the invite" } }
    };
    Ok(page(format!("Join {}", workspace.name), body).into_response())
}

/// Accepts the invite, and shows the page again.
pub(super) async fn accept_form(
    State(api): State<Api>,
    Path(token): Path<String>,
    Extension(entry): Extension<Entry>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    check_own_page(&api, &headers)?;
    let ctx = context(&api, &entry, &headers, 5).await?;
    let Some((session, user)) = person(&api, &ctx).await? else { return Ok(sign_in(&token)) };
    match accept(&api, &ctx, session, &user, &token).await {
        Ok(_) => {}
        // A second press of the button.
        Err(problem) if problem.code == "invite_accepted" => {}
        Err(problem) => return refused(problem),
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
fn sign_in(token: &str) -> Response {
    if token::recognize(token) == Some(token::TokenKind::Invite) {
        Redirect::to(&format!("/sign-in?next=%2Finvite%2F{token}")).into_response()
    } else {
        gone().into_response()
    }
}

async fn already_in(api: &Api, ctx: &Context, session: &SessionCaller) -> Result<Response, Problem> {
    let fact = match session.workspace {
        Some(workspace) => api.store().membership(workspace, session.user).await?,
        None => None,
    };
    let current = fact.filter(|fact| fact.access_ends_at.is_none_or(|end| ctx.now < end));
    let workspace = match current {
        Some(fact) => api.store().workspace(fact.workspace).await?,
        None => None,
    };
    let body = html! {
        p { "You have accepted this invite." }
        @if let Some(workspace) = &workspace {
            p { "The workspace " strong { (workspace.name) } " is open in this browser." }
        }
    };
    Ok(page("You are in", body).into_response())
}

fn gone() -> Page {
    page(
        "This invite is not there",
        html! {
            p { "The link leads nowhere: it was taken back, replaced by a newer one, or is not whole." }
            p { "Ask whoever invited you to send it again." }
        },
    )
    .status(StatusCode::NOT_FOUND)
}

/// A refusal as a page; what is our own fault is told like everywhere.
fn refused(problem: Problem) -> ApiResult<Response> {
    let status = match problem.kind {
        ProblemKind::NotFound => return Ok(gone().into_response()),
        ProblemKind::Forbidden => StatusCode::FORBIDDEN,
        ProblemKind::Conflict => StatusCode::CONFLICT,
        _ => return Err(problem.into()),
    };
    let body = html! {
        p { (problem.message) }
        @if let Some(hint) = &problem.hint { p { (hint) } }
    };
    Ok(page("The invite cannot be accepted", body).status(status).into_response())
}
