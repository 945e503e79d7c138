//! The page on which a person decides about an agent client's authorization request.

use axum::{
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, request::Parts},
    response::{IntoResponse as _, Response},
};
use identity::oauth::{AgentAccess, Authorization, ClientKind};
use kernel::{Caller, Context, Locale, caller::SessionCaller};
use maud::{Markup, html};
use secrecy::ExposeSecret as _;
use workspace::workspaces::WorkspaceSummary;

use super::{
    authorization_decide::{Answer, Decide},
    authorize::{failed_page, see_other},
    form::Parameters,
};
use crate::{
    auth::{agent::public_context, check_page_origin, credentials, late_authentication},
    http::pages::{
        Page, format_markup, format_text, negotiate_locale, page, redirect::sign_in_path,
        refusal::other_account, translations,
    },
    state::Api,
};
use application::{Problem, ProblemKind, authentication::Credential, authorization::Deferred};

pub(super) async fn show(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    let locale = negotiate_locale(request.headers());
    render(&api, locale, &id, &request.into_parts().0)
        .await
        .unwrap_or_else(|problem| failed_page(locale, &problem).into_response())
}

async fn render(api: &Api, locale: Locale, id: &str, request: &Parts) -> Result<Response, Problem> {
    let ctx = public_context(api, &request.extensions, 1)?;
    let Some((ctx, session)) = find_signed_in_user(api, ctx, &request.headers).await? else {
        return see_other(&sign_in_path(request.uri.path()));
    };
    let authorization = match api.open_authorization(&ctx, session.user, id).await {
        Ok(authorization) => authorization,
        Err(problem) => return closed_page(locale, problem).map(Page::into_response),
    };
    let workspaces = api.store().workspaces_of(session.user, ctx.now).await?;
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let open = session.workspace.map(|open| open.to_string()).unwrap_or_default();
    let here = request.uri.path();
    let body = consent_form(locale, &authorization, user.email.as_str(), &workspaces, &open);
    let body = html! { (body) (other_account(translations(locale), here)) };
    let title = format_text(translations(locale).consent_question, &[&authorization.client.name]);
    Ok(page(locale, title, body)
        .at_path(here)
        .with_console(api)
        .allow_form_action(&authorization.redirect_uri.origin())
        .into_response())
}

pub(super) async fn decide(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    let locale = negotiate_locale(request.headers());
    apply_decision(&api, locale, &id, request)
        .await
        .unwrap_or_else(|problem| failed_page(locale, &problem).into_response())
}

async fn apply_decision(api: &Api, locale: Locale, id: &str, request: Request) -> Result<Response, Problem> {
    let ctx = public_context(api, request.extensions(), 2)?;
    check_page_origin(api, request.headers())?;
    let Some((ctx, session)) = find_signed_in_user(api, ctx, request.headers()).await? else {
        return see_other(&sign_in_path(request.uri().path()));
    };
    let authorization = match api.open_authorization(&ctx, session.user, id).await {
        Ok(authorization) => authorization,
        Err(problem) => return closed_page(locale, problem).map(Page::into_response),
    };
    let here = request.uri().path().to_owned();
    let form = match Parameters::receive(request, &late_authentication(api, &ctx)).await {
        Ok(form) => form,
        // The session ended while the form was being sent.
        Err(problem) if problem.kind == ProblemKind::Unauthorized => return see_other(&sign_in_path(&here)),
        Err(problem) if matches!(problem.kind, ProblemKind::Invalid | ProblemKind::TooLarge) => {
            return Err(Problem::invalid("The form does not match the schema."));
        }
        Err(problem) => return Err(problem),
    };
    let access = form.get("access").map(str::parse::<AgentAccess>).transpose();
    let access = access.map_err(|error| Problem::invalid_field("access", error))?;
    let decision = match form.get("decision") {
        Some("allow") => Some(Answer::Allow),
        _ => None,
    };
    let input = Decide::new(decision, form.get("workspaceId").map(str::to_owned), access);
    let decided = api.decide_authorization(&ctx, authorization.id, input, &Deferred::default()).await?;
    see_other(decided.redirect_to.expose_secret())
}

/// Returns the request's context with the signed-in person as its caller, and their session.
async fn find_signed_in_user(
    api: &Api,
    mut ctx: Context,
    headers: &HeaderMap,
) -> Result<Option<(Context, SessionCaller)>, Problem> {
    let presented = credentials::request_credential(api, headers);
    if !matches!(presented, Credential::Session(_)) {
        return Ok(None);
    }
    match api.caller(&presented, ctx.now).await? {
        Caller::Session(session) => {
            ctx.caller = Caller::Session(session.clone());
            Ok(Some((ctx, session)))
        }
        _ => Ok(None),
    }
}

/// Returns the page for a request that is decided, expired or another person's.
fn closed_page(locale: Locale, problem: Problem) -> Result<Page, Problem> {
    if !matches!(problem.kind, ProblemKind::NotFound | ProblemKind::Conflict) {
        return Err(problem);
    }
    let words = translations(locale);
    let body = html! {
        p { (words.over_why) }
        p.quiet { (words.over_next) }
    };
    Ok(page(locale, words.over, body).status(StatusCode::NOT_FOUND))
}

fn consent_form(
    locale: Locale,
    authorization: &Authorization,
    email: &str,
    workspaces: &[WorkspaceSummary],
    open: &str,
) -> Markup {
    let (client, redirect) = (&authorization.client, &authorization.redirect_uri);
    let words = translations(locale);
    let strong = |text: &str| html! { strong { (text) } };
    html! {
        p { (format_markup(words.consent_asks, &[strong(&client.name)])) }
        dl {
            dt { (words.who) }
            dd {
                @match (client.verified_publisher(), client.host.as_deref()) {
                    (Some(owner), Some(host)) => { (format_markup(words.owner_proved, &[html! { (owner) }, strong(host)])) }
                    (None, Some(host)) => { (format_markup(words.proved, &[strong(host)])) }
                    (_, None) => { (words.not_proved) }
                }
            }
            @if let Some(host) = &authorization.homepage_host { dt { (words.says_it_is_of) } dd { (host) } }
            dt { (words.answered_at) }
            dd { (strong(&redirect.display_target())) }
            dt { (words.you) }
            dd { (email) }
        }
        @if redirect.is_local() { p.alarm { (words.local_warning) } }
        @if client.kind == ClientKind::Registered { p.quiet { (words.name_warning) } }
        form method="post" {
            @if workspaces.is_empty() {
                p { (words.nowhere) }
            } @else {
                label {
                    (words.workspace)
                    select name="workspaceId" {
                        @for workspace in workspaces {
                            @let id = workspace.id.to_string();
                            option value=(id) selected[id == open] {
                                (workspace.name) " (" ((words.roles)(workspace.role)) ")"
                            }
                        }
                    }
                }
                fieldset {
                    legend { (words.what_it_may) }
                    label.choice {
                        input type="radio" name="access" value="read"
                            checked[authorization.requested == AgentAccess::Read];
                        (words.look)
                    }
                    @if authorization.requested == AgentAccess::Write {
                        label.choice {
                            input type="radio" name="access" value="write" checked;
                            (words.look_and_change)
                        }
                    }
                }
                button type="submit" name="decision" value="allow" { (words.allow) }
            }
            button.second type="submit" name="decision" value="deny" { (words.refuse) }
        }
        p.quiet { (words.revoke_any_time) }
    }
}
