//! Authentication of agent clients at the agent server.

use application::{Problem, authentication::Credential};
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

fn with_challenge(problem: Problem, challenge: &str) -> Response {
    let mut response = ApiError(problem).into_response();
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Authenticates requests to the agent server, and stores their [`Context`] in their extensions.
///
/// A web page must not reach it through a host name of its own (DNS rebinding) or from another site, so `Host` and
/// `Origin` are checked first.
pub(crate) async fn require_agent(State(api): State<Api>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match authenticate(&api, &parts).await {
        Ok(context) => {
            parts.extensions.insert(context);
            // Handlers do not need the token. Without it they cannot pass it on.
            parts.headers.remove(header::AUTHORIZATION);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refusal) => refusal,
    }
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
        Err(problem) if problem.kind == application::ProblemKind::Unauthorized => {
            // Guesses count against the address.
            api.rate_limits().check(None, info.address, 2).map_err(refuse)?;
            let error =
                if matches!(presented, Credential::Bearer(_)) { "error=\"invalid_token\", " } else { "" };
            // Clients request these scopes whatever their person has configured, so the challenge lists all of them;
            // the person may allow fewer on the consent page.
            let metadata = api.resource_metadata_url();
            let challenge = format!("Bearer {error}resource_metadata=\"{metadata}\", scope=\"read write\"");
            return Err(with_challenge(problem, &challenge));
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
