//! The page on which a person decides whether an agent client may come in.

use axum::{
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, request::Parts},
    response::{IntoResponse as _, Response},
};
use identity::oauth::{AgentAccess, Authorization, ClientKind};
use kernel::{Caller, Context, Locale, Problem, ProblemKind, caller::SessionCaller};
use maud::{Markup, html};
use secrecy::ExposeSecret as _;
use workspace::workspaces::WorkspaceSummary;

use super::{
    authorization_decide::{Answer, Decide},
    authorize::{failed, see_other},
    form::Parameters,
};
use crate::{
    agents::visit,
    credentials::{self, Presented},
    extract::check_own_page,
    pages::{Page, fill, filled, language, page, words},
    routes::front::{other_account, sign_in_path},
    state::Api,
};

pub(super) async fn show(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    let locale = language(request.headers());
    render(&api, locale, &id, &request.into_parts().0)
        .await
        .unwrap_or_else(|problem| failed(locale, &problem).into_response())
}

async fn render(api: &Api, locale: Locale, id: &str, request: &Parts) -> Result<Response, Problem> {
    let ctx = visit(api, &request.extensions, 1)?;
    let Some((ctx, session)) = person(api, ctx, &request.headers).await? else {
        return see_other(&sign_in_path(request.uri.path()));
    };
    let authorization = match api.open_authorization(&ctx, session.user, id).await {
        Ok(authorization) => authorization,
        Err(problem) => return over(locale, problem).map(Page::into_response),
    };
    let workspaces = api.store().workspaces_of(session.user, ctx.now).await?;
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let open = session.workspace.map(|open| open.to_string()).unwrap_or_default();
    let here = request.uri.path();
    let body = question(locale, &authorization, user.email.as_str(), &workspaces, &open);
    let body = html! { (body) (other_account(words(locale), here)) };
    let title = filled(words(locale).consent_question, &[&authorization.client.name]);
    Ok(page(locale, title, body).at(here).leads_to(&authorization.redirect.origin()).into_response())
}

pub(super) async fn decide(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    let locale = language(request.headers());
    take(&api, locale, &id, request).await.unwrap_or_else(|problem| failed(locale, &problem).into_response())
}

async fn take(api: &Api, locale: Locale, id: &str, request: Request) -> Result<Response, Problem> {
    let ctx = visit(api, request.extensions(), 2)?;
    check_own_page(api, request.headers())?;
    let Some((ctx, session)) = person(api, ctx, request.headers()).await? else {
        return see_other(&sign_in_path(request.uri().path()));
    };
    let authorization = match api.open_authorization(&ctx, session.user, id).await {
        Ok(authorization) => authorization,
        Err(problem) => return over(locale, problem).map(Page::into_response),
    };
    let form = Parameters::take(request).await.map_err(|_| Problem::invalid("The form does not fit."))?;
    let access = form.get("access").map(str::parse::<AgentAccess>).transpose()?;
    let decision = match form.get("decision") {
        Some("allow") => Some(Answer::Allow),
        _ => None,
    };
    let input = Decide::new(decision, form.get("workspaceId").map(str::to_owned), access);
    let decided = api.decide_authorization(&ctx, authorization.id, input).await?;
    see_other(decided.redirect_to.expose_secret())
}

/// The person whose cookie came along, and the request in their name.
async fn person(
    api: &Api,
    mut ctx: Context,
    headers: &HeaderMap,
) -> Result<Option<(Context, SessionCaller)>, Problem> {
    let presented = credentials::presented(api, headers);
    if !matches!(presented, Presented::Cookie(_)) {
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

/// What stands in place of a question that is decided, too old, or somebody else's.
fn over(locale: Locale, problem: Problem) -> Result<Page, Problem> {
    if !matches!(problem.kind, ProblemKind::NotFound | ProblemKind::Conflict) {
        return Err(problem);
    }
    let words = words(locale);
    let body = html! {
        p { (words.over_why) }
        p.quiet { (words.over_next) }
    };
    Ok(page(locale, words.over, body).status(StatusCode::NOT_FOUND))
}

fn question(
    locale: Locale,
    authorization: &Authorization,
    email: &str,
    workspaces: &[WorkspaceSummary],
    open: &str,
) -> Markup {
    let (client, redirect) = (&authorization.client, &authorization.redirect);
    let words = words(locale);
    let strong = |text: &str| html! { strong { (text) } };
    html! {
        p { (fill(words.consent_asks, &[strong(&client.name)])) }
        dl {
            dt { (words.who) }
            dd {
                @match (client.recognized(), client.host.as_deref()) {
                    (Some(owner), Some(host)) => { (fill(words.owner_proved, &[html! { (owner) }, strong(host)])) }
                    (None, Some(host)) => { (fill(words.proved, &[strong(host)])) }
                    (_, None) => { (words.not_proved) }
                }
            }
            @if let Some(host) = &authorization.homepage_host { dt { (words.says_it_is_of) } dd { (host) } }
            dt { (words.answered_at) }
            dd { (strong(&redirect.place())) }
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
