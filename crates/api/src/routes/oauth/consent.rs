//! The page on which a person decides whether an agent client may come in.

use axum::{
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, request::Parts},
    response::{IntoResponse as _, Response},
};
use identity::oauth::{AgentAccess, Authorization, ClientKind};
use kernel::{Caller, Context, Problem, ProblemKind, caller::SessionCaller};
use maud::{Markup, html};
use secrecy::ExposeSecret as _;
use workspace::workspaces::WorkspaceSummary;

use super::{
    authorization_decide::{Answer, Decide},
    authorize::{failed, see_other, sign_in},
    form::Parameters,
};
use crate::{
    agents::visit,
    credentials::{self, Presented},
    extract::check_own_page,
    pages::{Page, page},
    state::Api,
};

pub(super) async fn show(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    render(&api, &id, &request.into_parts().0)
        .await
        .unwrap_or_else(|problem| failed(&problem).into_response())
}

async fn render(api: &Api, id: &str, request: &Parts) -> Result<Response, Problem> {
    let ctx = visit(api, &request.extensions, 1)?;
    let Some((ctx, session)) = person(api, ctx, &request.headers).await? else {
        return see_other(&sign_in(request.uri.path()));
    };
    let authorization = match api.open_authorization(&ctx, session.user, id).await {
        Ok(authorization) => authorization,
        Err(problem) => return over(problem).map(Page::into_response),
    };
    let workspaces = api.store().workspaces_of(session.user, ctx.now).await?;
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let open = session.workspace.map(|open| open.to_string()).unwrap_or_default();
    let body = question(&authorization, user.email.as_str(), &workspaces, &open);
    Ok(page("Let an agent in?", body).leads_to(&authorization.redirect.origin()).into_response())
}

pub(super) async fn decide(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    take(&api, &id, request).await.unwrap_or_else(|problem| failed(&problem).into_response())
}

async fn take(api: &Api, id: &str, request: Request) -> Result<Response, Problem> {
    let ctx = visit(api, request.extensions(), 2)?;
    check_own_page(api, request.headers())?;
    let Some((ctx, session)) = person(api, ctx, request.headers()).await? else {
        return see_other(&sign_in(request.uri().path()));
    };
    let authorization = match api.open_authorization(&ctx, session.user, id).await {
        Ok(authorization) => authorization,
        Err(problem) => return over(problem).map(Page::into_response),
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
fn over(problem: Problem) -> Result<Page, Problem> {
    if !matches!(problem.kind, ProblemKind::NotFound | ProblemKind::Conflict) {
        return Err(problem);
    }
    Ok(page(
        "This is over",
        html! {
            p { "There is nothing to decide here: it was decided already, or it has been too long." }
            p.quiet { "Start again in the program that sent you here." }
        },
    )
    .status(StatusCode::NOT_FOUND))
}

fn question(
    authorization: &Authorization,
    email: &str,
    workspaces: &[WorkspaceSummary],
    open: &str,
) -> Markup {
    let (client, redirect) = (&authorization.client, &authorization.redirect);
    let place = redirect.place();
    html! {
        p { strong { (client.name) } " asks to act for you in Qala." }
        dl {
            dt { "Who" }
            dd {
                @match (client.recognized(), client.host.as_deref()) {
                    (Some(owner), Some(host)) => { (owner) ", proved by " strong { (host) } }
                    (None, Some(host)) => { "Proved by " strong { (host) } }
                    (_, None) => { "Not proved: it chose its name itself" }
                }
            }
            @if let Some(host) = &authorization.homepage_host { dt { "Says it is of" } dd { (host) } }
            dt { "Answered at" }
            dd { strong { (place) } }
            dt { "You" }
            dd { (email) }
        }
        @if redirect.is_local() {
            p.alarm {
                "The answer goes to a program on this device. Go on only if you have just started that program "
                "yourself."
            }
        }
        @if client.kind == ClientKind::Registered {
            p.quiet { "Anybody can give a program any name. Look at where the answer goes." }
        }
        form method="post" {
            @if workspaces.is_empty() {
                p { "You are in no workspace yet, so there is nothing to let it into." }
            } @else {
                label {
                    "Workspace"
                    select name="workspaceId" {
                        @for workspace in workspaces {
                            @let id = workspace.id.to_string();
                            option value=(id) selected[id == open] { (workspace.name) " (" (workspace.role) ")" }
                        }
                    }
                }
                fieldset {
                    legend { "What it may do" }
                    label.choice {
                        input type="radio" name="access" value="read"
                            checked[authorization.requested == AgentAccess::Read];
                        "Look at what you can see"
                    }
                    @if authorization.requested == AgentAccess::Write {
                        label.choice {
                            input type="radio" name="access" value="write" checked;
                            "Look, and change what you can change"
                        }
                    }
                }
                button type="submit" name="decision" value="allow" { "Let it in" }
            }
            button.second type="submit" name="decision" value="deny" { "Refuse" }
        }
        p.quiet { "You can show it out at any time." }
    }
}
