//! Agent clients as callers, and the way in to the agent server.

use application::authentication::Credential;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::{Caller, Context, Problem};

use crate::{
    auth::credentials,
    http::{error::ApiError, request_middleware::RequestInfo},
    state::Api,
};

/// A refusal of an agent for want of a scope (RFC 6750 §3.1), which tells it what to ask its person for, and where.
#[must_use]
pub fn insufficient_scope(resource_metadata: &str) -> Response {
    let problem = Problem::forbidden("insufficient_scope", "The token's scopes do not allow this tool.")
        .hint("Sign in again and ask for the scope write.");
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

/// Lets in to the agent server who has a token for it, and leaves the request's [`Context`] in its extensions.
///
/// A page of a browser must not reach it through a name of its own (DNS rebinding), nor from another site: `Host` and
/// `Origin` are checked before anything else.
pub(crate) async fn require_agent(State(api): State<Api>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match authenticate(&api, &parts).await {
        Ok(context) => {
            parts.extensions.insert(context);
            // Nothing behind this needs the token, so nothing can pass it on.
            parts.headers.remove(header::AUTHORIZATION);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refusal) => refusal,
    }
}

async fn authenticate(api: &Api, request: &Parts) -> Result<Context, Response> {
    let refuse = |problem: Problem| ApiError(problem).into_response();
    check_host_and_origin(api, &request.headers).map_err(refuse)?;
    let Some(info) = request.extensions.get::<RequestInfo>() else {
        return Err(refuse(Problem::internal("the route was registered without its door")));
    };
    let now = api.now();
    // Only a header counts: neither a cookie, nor a token in the query, which logs would keep.
    let presented = credentials::request_credential(api, &request.headers);
    let caller = match presented {
        Credential::Bearer(_) => api.caller(&presented, now).await,
        Credential::Session(_) | Credential::Absent => Err(Problem::unauthorized()),
    };
    let caller = match caller {
        Ok(caller) => caller,
        Err(problem) if problem.kind == kernel::ProblemKind::Unauthorized => {
            // Guessing costs the guesser's address.
            api.rate_limits().check(None, info.address, 2).map_err(refuse)?;
            let error =
                if matches!(presented, Credential::Bearer(_)) { "error=\"invalid_token\", " } else { "" };
            // Clients ask for what stands here before anything their person configured, so it is all there is: on
            // the page of consent the person may allow less.
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
            .hint("Agents call the server by its public URL, and not from a page of another site.")
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

/// The context of a request at a public endpoint, whoever sends it, counted against its address.
///
/// # Errors
/// 429 when the address has sent too many.
pub(crate) fn public_context(
    api: &Api,
    extensions: &axum::http::Extensions,
    cost: u32,
) -> Result<Context, Problem> {
    let info = extensions
        .get::<RequestInfo>()
        .ok_or_else(|| Problem::internal("the route was registered without its door"))?;
    if let Some(rate) = api.rate_limits().check_agent(info.address, cost)? {
        let _first = info.rate.set(rate);
    }
    Ok(api.context(Caller::Anonymous, info.request_id, info.address))
}
