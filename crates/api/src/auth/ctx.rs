//! The context of a request whose caller the operation takes.

use application::authentication::Credential;
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, Method, header, request::Parts},
};
use kernel::{Caller, Context, Problem, Timestamp};

use crate::{
    auth::{
        access::{Access, Callers},
        credentials,
    },
    http::{error::ApiError, request_middleware::RequestInfo},
    state::Api,
};

/// The context of the request. To have it is to have passed the operation's [`Access`] and the rate limit.
pub(crate) struct Ctx(pub(crate) Context);

impl std::ops::Deref for Ctx {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.0
    }
}

impl FromRequestParts<Api> for Ctx {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let missing = |what: &str| Problem::internal(format!("the route was registered without its {what}"));
        let access = *parts.extensions.get::<Access>().ok_or_else(|| missing("access"))?;
        let info = parts.extensions.get::<RequestInfo>().ok_or_else(|| missing("door"))?;
        let now = api.now();
        let caller = match access.callers {
            Callers::Public => Caller::Anonymous,
            _ => {
                let presented = credentials::request_credential(api, &parts.headers);
                let is_mutation = !matches!(parts.method, Method::GET | Method::HEAD);
                let needs_origin = matches!(presented, Credential::Session(_))
                    || matches!(access.callers, Callers::SignIn | Callers::Page);
                if is_mutation && needs_origin {
                    match access.callers {
                        Callers::Page => check_page_origin(api, &parts.headers)?,
                        _ => check_console_origin(api, &parts.headers)?,
                    }
                }
                authenticate(api, access, &presented, now, info).await?
            }
        };
        let is_read = matches!(parts.method, Method::GET | Method::HEAD);
        let cost = access.cost.unwrap_or(if is_read { 1 } else { 2 });
        if let Some(rate) = api.rate_limits().check(caller.user(), info.address, cost)? {
            // Only the first stands: a request is counted once.
            let _first = info.rate.set(rate);
        }
        Ok(Self(api.context_at(now, caller, info.request_id, info.address)))
    }
}

async fn authenticate(
    api: &Api,
    access: Access,
    presented: &Credential<'_>,
    now: Timestamp,
    info: &RequestInfo,
) -> Result<Caller, Problem> {
    let caller = match api.caller(presented, now).await {
        Ok(caller) => caller,
        Err(problem) => {
            // Guessing credentials costs the guesser's address.
            api.rate_limits().check(None, info.address, 2)?;
            return Err(problem);
        }
    };
    match (&caller, access.callers) {
        (_, Callers::SignIn) => Ok(Caller::Anonymous),
        (Caller::Session(_) | Caller::Anonymous, Callers::Page) => Ok(caller),
        (Caller::Session(_), Callers::Console | Callers::ConsoleOr(_)) => Ok(caller),
        (Caller::Token(_), Callers::Token) => Ok(caller),
        (Caller::Token(token), Callers::ConsoleOr(scope)) if token.scopes.allows(scope) => Ok(caller),
        (Caller::Token(_), Callers::ConsoleOr(_)) => {
            Err(Problem::forbidden("insufficient_scope", "The token's scopes do not allow this.")
                .hint("Make a token with the scope that this operation names."))
        }
        (Caller::Token(_), Callers::Console) => {
            Err(Problem::forbidden("console_only", "This works only for a person signed in to the console."))
        }
        (Caller::Session(_), Callers::Token) => Err(Problem::unauthorized()
            .hint("This is about the token itself: send one in the Authorization header.")),
        _ => {
            api.rate_limits().check(None, info.address, 1)?;
            Err(Problem::unauthorized())
        }
    }
}

/// A page of another site must not act with the console's cookie.
fn check_console_origin(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    if has_origin(&api.settings().console_origin, headers) {
        return Ok(());
    }
    Err(Problem::forbidden("forbidden", "The Origin header is missing or not the console's.")
        .hint("Requests that change something with the session cookie come from the console's own pages."))
}

/// The form of a page of ours must come from that page: it is served at the public URL, wherever the console is.
pub(crate) fn check_page_origin(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    if has_origin(&api.settings().public_url, headers) {
        return Ok(());
    }
    Err(Problem::forbidden("forbidden", "This form was not sent from its own page."))
}

/// Whether there is one header `Origin` that says so.
fn has_origin(origin: &str, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let first = origins.next().map(axum::http::HeaderValue::as_bytes);
    first == Some(origin.as_bytes()) && origins.next().is_none()
}
