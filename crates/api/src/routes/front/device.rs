//! The page on which a person lets a command line in.

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use identity::device::{ApproveDeviceLogin, DeviceLogin, DeviceState, UserCode};
use kernel::{Caller, caller::Scope};
use maud::html;
use serde::Deserialize;
use workspace::WorkspaceSummary;

use super::{refusal, to_sign_in};
use crate::{
    envelope::{ApiError, ApiResult},
    extract::{Ctx, Form, Params},
    pages::{Page, page},
    routes::device::find_login,
    state::Api,
};

#[derive(Deserialize)]
pub(super) struct Query {
    #[serde(default)]
    user_code: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ApproveForm {
    user_code: String,
    workspace_id: String,
    access: Access,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Access {
    Asked,
    Read,
}

#[derive(Deserialize)]
pub(super) struct DenyForm {
    user_code: String,
}

/// Asks for the code, or shows what it stands for.
pub(super) async fn show(
    State(api): State<Api>,
    ctx: Ctx,
    Params(query): Params<Query>,
) -> ApiResult<Response> {
    let typed = query.user_code.as_deref().map(str::trim).filter(|typed| !typed.is_empty());
    let Caller::Session(session) = &ctx.caller else {
        return Ok(match typed.and_then(|typed| typed.parse::<UserCode>().ok()) {
            Some(code) => to_sign_in(&format!("/device?user_code={code}")),
            None => to_sign_in("/device"),
        });
    };
    let Some(typed) = typed else { return Ok(ask().into_response()) };
    let (code, login) = match find_login(&api, &ctx, typed).await {
        Ok((code, login, _)) => (code, login),
        Err(ApiError(problem)) => return Ok(refusal(problem)?),
    };
    match login.state(ctx.now) {
        DeviceState::Pending => {
            let workspaces = api.store().workspaces_of(session.user, ctx.now).await?;
            let minutes = (ctx.now - login.created_at).num_minutes();
            Ok(decide(&code, &login, minutes, &workspaces).into_response())
        }
        _ => Ok(refusal(identity::IdentityError::DeviceLoginOver.into())?),
    }
}

fn ask() -> Page {
    let body = html! {
        p { "Type the code that your command line shows." }
        form method="get" action="/device" {
            label { "Code" input name="user_code" maxlength="16" autocomplete="off" autocapitalize="characters" required autofocus; }
            button type="submit" { "Continue" }
        }
    };
    page("Let a command line in", body)
}

fn decide(code: &UserCode, login: &DeviceLogin, minutes: i64, workspaces: &[WorkspaceSummary]) -> Page {
    let asked = &login.asked;
    let writes = asked.scopes.allow(Scope::Write);
    let body = html! {
        p { "A command line wants to act for you. Go on only if you started it yourself a moment ago, and it shows this code:" }
        p #user-code { strong { (code) } }
        dl {
            dt { "Program" } dd #client { (asked.client) }
            dt { "Machine" } dd #host { (asked.host.as_deref().unwrap_or("not said")) }
            dt { "Asked from" } dd #address {
                @match login.address { Some(address) => (address), None => "unknown" }
            }
            dt { "Asked" } dd {
                @match minutes { 0 => "less than a minute ago", 1 => "a minute ago", _ => { (minutes) " minutes ago" } }
            }
            dt { "It may" } dd #scopes { @if writes { "read and change" } @else { "read" } }
            dt { "Its token" } dd { (asked.name) ", for " (asked.expires_in_days) " days" }
        }
        @if workspaces.is_empty() {
            p { "You are in no workspace yet: there is nothing to let it into." }
        } @else {
            form method="post" action="/device/approve" {
                input type="hidden" name="user_code" value=(code);
                label { "Workspace"
                    select name="workspace_id" {
                        @for workspace in workspaces { option value=(workspace.id) { (workspace.name) } }
                    }
                }
                @if writes {
                    label { "Access"
                        select name="access" {
                            option value="asked" { "Read and change, as asked" }
                            option value="read" { "Read only" }
                        }
                    }
                } @else {
                    input type="hidden" name="access" value="asked";
                }
                button #approve type="submit" { "Let it in" }
            }
        }
        form method="post" action="/device/deny" {
            input type="hidden" name="user_code" value=(code);
            button #deny type="submit" { "Refuse" }
        }
    };
    page("Let a command line in?", body)
}

/// Lets it in.
pub(super) async fn approve(
    State(api): State<Api>,
    ctx: Ctx,
    Form(input): Form<ApproveForm>,
) -> ApiResult<Response> {
    if !matches!(ctx.caller, Caller::Session(_)) {
        return Ok(to_sign_in("/device"));
    }
    match try_approve(&api, &ctx, &input).await {
        Ok(login) => {
            let body = html! { p #outcome { (login.asked.client) " is let in. You can close this page." } };
            Ok(page("Done", body).into_response())
        }
        Err(ApiError(problem)) => Ok(refusal(problem)?),
    }
}

async fn try_approve(api: &Api, ctx: &Ctx, input: &ApproveForm) -> ApiResult<DeviceLogin> {
    let (_, login, _) = find_login(api, ctx, &input.user_code).await?;
    let member = api.member(ctx, &input.workspace_id).await?;
    let scopes = match input.access {
        Access::Asked => login.asked.scopes,
        Access::Read => kernel::caller::Scopes::new(&[Scope::Read])?,
    };
    let decision = ApproveDeviceLogin { scopes, expires_in_days: login.asked.expires_in_days };
    let mut tx = api.store().begin().await?;
    identity::device::approve_device_login(&mut *tx, ctx, &member, &login, decision).await?;
    tx.commit().await?;
    Ok(login)
}

/// Refuses it.
pub(super) async fn deny(
    State(api): State<Api>,
    ctx: Ctx,
    Form(input): Form<DenyForm>,
) -> ApiResult<Response> {
    if !matches!(ctx.caller, Caller::Session(_)) {
        return Ok(to_sign_in("/device"));
    }
    match try_deny(&api, &ctx, &input.user_code).await {
        Ok(()) => {
            let body = html! { p #outcome { "It was refused. You can close this page." } };
            Ok(page("Done", body).into_response())
        }
        Err(ApiError(problem)) => Ok(refusal(problem)?),
    }
}

async fn try_deny(api: &Api, ctx: &Ctx, typed: &str) -> Result<(), ApiError> {
    let (_, login, _) = find_login(api, ctx, typed).await?;
    let mut tx = api.store().begin().await?;
    identity::device::deny_device_login(&mut *tx, ctx, &login).await?;
    tx.commit().await?;
    Ok(())
}
