//! The page on which a person approves or denies a device login.

use application::unit;
use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use identity::device::{ApproveDeviceLogin, DeviceLogin, DeviceLoginState, UserCode};
use kernel::{Caller, Locale, caller::Scope};
use maud::html;
use serde::Deserialize;
use workspace::WorkspaceSummary;

use crate::{
    auth::{Ctx, PageVisitor},
    http::{
        error::{ApiError, ApiResult},
        extract::{Form, Params},
        pages::{
            Language, Page, format_text, page,
            redirect::redirect_to_sign_in,
            refusal::{other_account, refusal_page},
            translations,
        },
    },
    routes::device::read::find_login,
    state::Api,
};

const HERE: &str = "/device";

#[derive(Deserialize)]
pub(super) struct DeviceQuery {
    #[serde(default)]
    user_code: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ApproveForm {
    user_code: String,
    workspace_id: String,
    access: GrantedAccess,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GrantedAccess {
    Asked,
    Read,
}

#[derive(Deserialize)]
pub(super) struct DenyForm {
    user_code: String,
}

/// Asks for the code, or shows the device login with it.
pub(super) async fn show(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Language(locale): Language,
    Params(query): Params<DeviceQuery>,
) -> ApiResult<Response> {
    let typed = query.user_code.as_deref().map(str::trim).filter(|typed| !typed.is_empty());
    let Caller::Session(session) = &ctx.caller else {
        return Ok(match typed.and_then(|typed| typed.parse::<UserCode>().ok()) {
            Some(code) => redirect_to_sign_in(&format!("/device?user_code={code}")),
            None => redirect_to_sign_in("/device"),
        });
    };
    let Some(typed) = typed else { return Ok(code_form(locale).with_console(&api).into_response()) };
    let (code, login) = match find_login(&api, &ctx, typed).await {
        Ok((code, login, _)) => (code, login),
        Err(ApiError(problem)) => return Ok(refusal_page(locale, problem, HERE)?),
    };
    match login.state(ctx.now) {
        DeviceLoginState::Pending => {
            let workspaces = api.store().workspaces_of(session.user, ctx.now).await?;
            let minutes = (ctx.now - login.created_at).num_minutes();
            Ok(decision_page(locale, &code, &login, minutes, &workspaces).with_console(&api).into_response())
        }
        _ => Ok(refusal_page(locale, identity::IdentityError::DeviceLoginNotPending.into(), HERE)?),
    }
}

fn code_form(locale: Locale) -> Page {
    let words = translations(locale);
    let body = html! {
        p { (words.device_code) }
        form method="get" action="/device" {
            label { (words.code) input name="user_code" maxlength="16" autocomplete="off" autocapitalize="characters" required autofocus; }
            button type="submit" { (words.proceed) }
        }
    };
    page(locale, words.device, body).at_path(HERE)
}

fn decision_page(
    locale: Locale,
    code: &UserCode,
    login: &DeviceLogin,
    minutes: i64,
    workspaces: &[WorkspaceSummary],
) -> Page {
    let words = translations(locale);
    let asked = &login.request;
    let writes = asked.scopes.allows(Scope::Write);
    let here = format!("{HERE}?user_code={code}");
    let body = html! {
        p { (words.device_intro) }
        p.code #user-code { strong { (code) } }
        dl {
            dt { (words.program) } dd #client { (asked.client) }
            dt { (words.machine) } dd #host { (asked.host.as_deref().unwrap_or(words.not_said)) }
            dt { (words.asked_from) } dd #address {
                @match login.client_ip { Some(address) => (address), None => (words.unknown) }
            }
            dt { (words.asked) } dd {
                @match minutes { 0 => (words.just_now), _ => (format_text(words.minutes_ago, &[&minutes.to_string()])) }
            }
            dt { (words.may) } dd #scopes { @if writes { (words.read_and_change) } @else { (words.read) } }
            dt { (words.token) } dd { (format_text(words.for_days, &[&asked.name, &asked.expires_in_days.to_string()])) }
        }
        @if workspaces.is_empty() {
            p { (words.nowhere) }
        } @else {
            form method="post" action="/device/approve" {
                input type="hidden" name="user_code" value=(code);
                label { (words.workspace)
                    select name="workspace_id" {
                        @for workspace in workspaces { option value=(workspace.id) { (workspace.name) } }
                    }
                }
                @if writes {
                    label { (words.access)
                        select name="access" {
                            option value="asked" { (words.access_asked) }
                            option value="read" { (words.access_read) }
                        }
                    }
                } @else {
                    input type="hidden" name="access" value="asked";
                }
                button #approve type="submit" { (words.allow) }
            }
        }
        form method="post" action="/device/deny" {
            input type="hidden" name="user_code" value=(code);
            button.second #deny type="submit" { (words.refuse) }
        }
        (other_account(words, &here))
    };
    page(locale, format_text(words.device_question, &[&asked.client]), body).at_path(&here)
}

/// Approves the device login.
pub(super) async fn approve(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Language(locale): Language,
    Form(input): Form<ApproveForm>,
) -> ApiResult<Response> {
    if !matches!(ctx.caller, Caller::Session(_)) {
        return Ok(redirect_to_sign_in("/device"));
    }
    match try_approve(&api, &ctx, &input).await {
        Ok(login) => {
            let words = translations(locale);
            let body = html! { p #outcome { (format_text(words.let_in, &[&login.request.client])) } };
            Ok(page(locale, words.done, body).into_response())
        }
        Err(ApiError(problem)) => Ok(refusal_page(locale, problem, HERE)?),
    }
}

async fn try_approve(api: &Api, ctx: &kernel::Context, input: &ApproveForm) -> ApiResult<DeviceLogin> {
    let (_, login, _) = find_login(api, ctx, &input.user_code).await?;
    let member = api.member(ctx, &input.workspace_id).await?;
    let scopes = match input.access {
        GrantedAccess::Asked => login.request.scopes,
        GrantedAccess::Read => kernel::caller::Scopes::new(&[Scope::Read])?,
    };
    let decision = ApproveDeviceLogin { scopes, expires_in_days: login.request.expires_in_days };
    api.transaction(unit!(|tx| identity::device::approve_device_login(
        tx,
        ctx,
        &member,
        &login,
        decision.clone()
    )
    .await))
        .await?;
    Ok(login)
}

/// Denies the device login.
pub(super) async fn deny(
    State(api): State<Api>,
    ctx: Ctx<PageVisitor>,
    Language(locale): Language,
    Form(input): Form<DenyForm>,
) -> ApiResult<Response> {
    if !matches!(ctx.caller, Caller::Session(_)) {
        return Ok(redirect_to_sign_in("/device"));
    }
    match try_deny(&api, &ctx, &input.user_code).await {
        Ok(()) => {
            let words = translations(locale);
            let body = html! { p #outcome { (words.was_refused) } };
            Ok(page(locale, words.done, body).into_response())
        }
        Err(ApiError(problem)) => Ok(refusal_page(locale, problem, HERE)?),
    }
}

async fn try_deny(api: &Api, ctx: &kernel::Context, typed: &str) -> Result<(), ApiError> {
    let (_, login, _) = find_login(api, ctx, typed).await?;
    api.transaction(unit!(|tx| identity::device::deny_device_login(tx, ctx, &login).await)).await?;
    Ok(())
}
