//! Authentication of agent clients at the agent server.

use application::{Problem, ProblemKind, authentication::Credential, late_proof::LateProof};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::{Caller, Context};

use crate::{
    auth::{credentials, view_as},
    http::{error::ApiError, request_middleware::RequestInfo},
    state::Api,
};

/// Refuses an agent whose token lacks a scope (RFC 6750, section 3.1). The challenge says which scopes to request, and
/// where.
#[must_use]
pub fn insufficient_scope(resource_metadata: &str) -> Response {
    let problem = Problem::forbidden("insufficient_scope", "The token's scopes do not allow this tool.")
        .hint("Sign in again and request the scope `write`.");
    let challenge = format!(
        "Bearer error=\"insufficient_scope\", scope=\"read write\", resource_metadata=\"{resource_metadata}\""
    );
    with_challenge(problem, &challenge)
}

/// Refuses an agent whose token was admitted before, as if the request arrived now.
#[must_use]
pub fn refuse_agent(problem: Problem, resource_metadata: &str) -> Response {
    if problem.kind == ProblemKind::Unauthorized {
        invalid_token(problem, resource_metadata)
    } else {
        ApiError(problem).into_response()
    }
}

/// Returns the refusal of a token that is not valid (RFC 6750, section 3.1).
fn invalid_token(problem: Problem, resource_metadata: &str) -> Response {
    unauthorized(problem, "error=\"invalid_token\", ", resource_metadata)
}

/// Returns a refusal with a challenge that says where to get a token.
///
/// Clients request these scopes whatever their person has configured, so the challenge lists all of them; the person may
/// allow fewer on the consent page.
fn unauthorized(problem: Problem, error: &str, resource_metadata: &str) -> Response {
    let challenge = format!("Bearer {error}resource_metadata=\"{resource_metadata}\", scope=\"read write\"");
    with_challenge(problem, &challenge)
}

fn with_challenge(problem: Problem, challenge: &str) -> Response {
    let mut response = ApiError(problem).into_response();
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Authenticates requests to the agent server, and stores in their extensions their [`Context`] and what makes it again if
/// the body arrives late.
///
/// A web page must not reach it through a host name of its own (DNS rebinding) or from another site, so `Host` and
/// `Origin` are checked first.
pub(crate) async fn require_agent(State(api): State<Api>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match authenticate(&api, &parts).await {
        Ok(context) => {
            parts.extensions.insert(late_context(&api, &context));
            parts.extensions.insert(context);
            // Handlers do not need the token. Without it they cannot pass it on.
            parts.headers.remove(header::AUTHORIZATION);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refusal) => refusal,
    }
}

/// Returns what authenticates an agent once more, with its context as of then.
fn late_context(api: &Api, context: &Context) -> LateProof<Context> {
    let (api, context) = (api.clone(), context.clone());
    LateProof::new(move || {
        let (api, context) = (api.clone(), context.clone());
        async move { api.reauthenticate(&context).await }
    })
}

async fn authenticate(api: &Api, request: &Parts) -> Result<Context, Response> {
    let refuse = |problem: Problem| ApiError(problem).into_response();
    check_host_and_origin(api, &request.headers).map_err(refuse)?;
    view_as::refuse(&request.headers).map_err(refuse)?;
    let Some(info) = request.extensions.get::<RequestInfo>() else {
        return Err(refuse(Problem::internal("the request did not pass the request middleware")));
    };
    let now = api.now();
    // Only the header counts: no cookie, and no token in the query, since that would appear in logs.
    let presented = credentials::request_credential(api, &request.headers);
    let caller = match presented {
        Credential::Bearer(_) => api.caller(&presented, now).await,
        Credential::Session(_) | Credential::Absent => Err(Problem::unauthorized()),
    };
    let caller = match caller {
        Ok(caller) => caller,
        Err(problem) if problem.kind == ProblemKind::Unauthorized => {
            // Guesses count against the address.
            api.rate_limits().check(None, info.address, 2).map_err(refuse)?;
            let metadata = api.resource_metadata_url();
            return Err(match presented {
                Credential::Bearer(_) => invalid_token(problem, &metadata),
                Credential::Session(_) | Credential::Absent => unauthorized(problem, "", &metadata),
            });
        }
        Err(problem) => return Err(refuse(problem)),
    };
    if let Some(rate) = api.rate_limits().check(caller.user(), info.address, 2).map_err(refuse)? {
        let _first = info.rate.set(rate);
    }
    Ok(api.context_at(now, caller, info.request_id, info.address))
}

fn check_host_and_origin(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    let forbidden = |what: &str| {
        Problem::forbidden("forbidden", format!("The {what} header is not this server's."))
            .hint("Call the server by its public URL, and not from a page of another site.")
    };
    let authority = api.settings().public_url.split_once("://").map_or("", |(_, authority)| authority);
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes).unwrap_or_default();
    if !host.eq_ignore_ascii_case(authority.as_bytes()) || headers.get_all(header::HOST).iter().count() > 1 {
        return Err(forbidden("Host"));
    }
    let ours = [api.settings().public_url.as_bytes(), api.settings().console_origin.as_bytes()];
    if headers.get_all(header::ORIGIN).iter().any(|origin| !ours.contains(&origin.as_bytes())) {
        return Err(forbidden("Origin"));
    }
    Ok(())
}

/// Returns the context of an anonymous request to a public endpoint, and counts it against the address.
///
/// # Errors
/// 429 `rate_limited` if the address has sent too many.
pub(crate) fn public_context(
    api: &Api,
    extensions: &axum::http::Extensions,
    cost: u32,
) -> Result<Context, Problem> {
    let info = extensions
        .get::<RequestInfo>()
        .ok_or_else(|| Problem::internal("the request did not pass the request middleware"))?;
    if let Some(rate) = api.rate_limits().check_agent(info.address, cost)? {
        let _first = info.rate.set(rate);
    }
    Ok(api.context(Caller::Anonymous, info.request_id, info.address))
}
