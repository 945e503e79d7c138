//! Extractors that enforce an operation's access.

use std::marker::PhantomData;

use application::{
    Problem,
    authentication::Credential,
    authorization::{Proof, Requirement},
    late_proof::LateProof,
};
use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::{HeaderMap, Method, header, request::Parts},
};
use kernel::{Caller, Context, Timestamp};

use super::{
    access::{Access, Cost, Enforces},
    callers::{CallerKind, Callers},
    credentials, view_as,
};
use crate::{
    http::{conditional::refuse_preconditions, error::ApiError, request_middleware::RequestInfo},
    state::Api,
};

/// Context of a request whose caller is of the kind `C`. Extracting it counts the request against the caller's rate
/// limit.
pub(crate) struct Ctx<C>(Context, PhantomData<C>);

impl<C> std::ops::Deref for Ctx<C> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.0
    }
}

impl<C: CallerKind> Enforces for Ctx<C> {
    const ACCESS: Access = Access { callers: C::CALLERS, requirement: Requirement::None };
}

impl<C: CallerKind> FromRequestParts<Api> for Ctx<C> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let ctx = admit(parts, api, C::CALLERS).await?;
        refuse_preconditions(parts)?;
        if takes_body(&parts.method) {
            parts.extensions.insert(late_authentication(api, &ctx));
        }
        Ok(Self(ctx, PhantomData))
    }
}

/// Context of a request, with the proof that its caller has the right that the operation needs on the object in the
/// first path parameter. The proof is made before anything else of the request is read.
pub(crate) struct Authorized<C, P>(pub(crate) Ctx<C>, pub(crate) P);

impl<C: CallerKind, P: Proof> Enforces for Authorized<C, P> {
    const ACCESS: Access = Access { callers: C::CALLERS, requirement: P::REQUIREMENT };
}

impl<C: CallerKind, P: Proof + 'static> FromRequestParts<Api> for Authorized<C, P> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let ctx = Ctx(admit(parts, api, C::CALLERS).await?, PhantomData);
        // A parameter that is not valid, such as one that is not UTF-8, matches no route.
        let path = RawPathParams::from_request_parts(parts, api).await;
        let path = path.map_err(|_| Problem::not_found("route"))?;
        let id = path.iter().next().map_or("", |(_, id)| id);
        let proof = P::prove(api, &ctx, id).await?;
        refuse_preconditions(parts)?;
        if takes_body(&parts.method) {
            parts.extensions.insert(late_proof(api, &ctx, id, &proof));
        }
        Ok(Self(ctx, proof))
    }
}

/// Returns true for a method whose requests may have a body that an operation reads. Reads are frequent, and need no proof
/// after one.
fn takes_body(method: &Method) -> bool {
    !method.is_safe()
}

/// Returns what proves a right on an object once more, with the caller's credential.
pub(crate) fn late_proof<P: Proof + 'static>(api: &Api, ctx: &Context, id: &str, proof: &P) -> LateProof {
    let (api, ctx, id, role) = (api.clone(), ctx.clone(), id.to_owned(), proof.proven_role());
    LateProof::new(move || {
        let (api, ctx, id) = (api.clone(), ctx.clone(), id.clone());
        async move {
            let ctx = api.reauthenticate(&ctx).await?;
            P::prove_again(&api, &ctx, &id, role).await
        }
    })
}

/// Returns what authenticates a caller once more, if there is one.
pub(crate) fn late_authentication(api: &Api, ctx: &Context) -> LateProof {
    if matches!(ctx.caller, Caller::Anonymous) {
        return LateProof::of_nobody();
    }
    let (api, ctx) = (api.clone(), ctx.clone());
    LateProof::new(move || {
        let (api, ctx) = (api.clone(), ctx.clone());
        async move { api.reauthenticate(&ctx).await.map(drop) }
    })
}

/// Checks that the caller is one of `callers`, counts the request, and returns its context.
async fn admit(parts: &Parts, api: &Api, callers: Callers) -> Result<Context, Problem> {
    let Some(info) = parts.extensions.get::<RequestInfo>() else {
        return Err(Problem::internal("the request did not pass the request middleware"));
    };
    let now = api.now();
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    let caller = match callers {
        Callers::Public => Caller::Anonymous,
        _ => {
            let presented = credentials::request_credential(api, &parts.headers);
            let needs_origin = matches!(presented, Credential::Session(_))
                || matches!(callers, Callers::SignIn | Callers::Page);
            if !is_read && needs_origin {
                match callers {
                    Callers::Page => check_page_origin(api, &parts.headers)?,
                    _ => check_console_origin(api, &parts.headers)?,
                }
            }
            let caller = authenticate(api, callers, &presented, now, info).await?;
            view_as::apply(parts, is_read, caller)?
        }
    };
    let cost = match parts.extensions.get::<Cost>() {
        Some(Cost(cost)) => *cost,
        None if is_read => 1,
        None => 2,
    };
    if let Some(rate) = api.rate_limits().check(caller.user(), info.address, cost)? {
        // Only the first value is kept: a request counts once.
        let _first = info.rate.set(rate);
    }
    Ok(api.context_at(now, caller, info.request_id, info.address))
}

async fn authenticate(
    api: &Api,
    callers: Callers,
    presented: &Credential<'_>,
    now: Timestamp,
    info: &RequestInfo,
) -> Result<Caller, Problem> {
    let caller = match api.caller(presented, now).await {
        Ok(caller) => caller,
        Err(problem) => {
            // Guesses count against the address.
            api.rate_limits().check(None, info.address, 2)?;
            return Err(problem);
        }
    };
    match (&caller, callers) {
        (_, Callers::SignIn) => Ok(Caller::Anonymous),
        (Caller::Session(_) | Caller::Anonymous, Callers::Page) => Ok(caller),
        (Caller::Session(_), Callers::Console | Callers::ConsoleOr(_)) => Ok(caller),
        (Caller::Token(_), Callers::Token) => Ok(caller),
        (Caller::Token(token), Callers::ConsoleOr(scope)) if token.scopes.allows(scope) => Ok(caller),
        (Caller::Token(_), Callers::ConsoleOr(_)) => {
            Err(Problem::forbidden("insufficient_scope", "The token's scopes do not allow this.")
                .hint("Create a token with the scope that this operation needs."))
        }
        (Caller::Token(_), Callers::Console) => Err(console_only()),
        (Caller::Session(_), Callers::Token) => Err(Problem::unauthorized()
            .hint("This operation is about the token itself. Send a token in the Authorization header.")),
        _ => {
            api.rate_limits().check(None, info.address, 1)?;
            Err(Problem::unauthorized())
        }
    }
}

/// Returns the refusal of a token where only a person may act.
pub(crate) fn console_only() -> Problem {
    Problem::forbidden("console_only", "Only a person who is signed in to the console may do this.")
}

/// Prevents pages of other sites from acting with the session cookie.
fn check_console_origin(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    if has_origin(&api.settings().console_origin, headers) {
        return Ok(());
    }
    Err(Problem::forbidden("forbidden", "The Origin header is missing or is not the console's.")
        .hint("Send requests with the session cookie only from pages of the console."))
}

/// Checks that a form was sent from a page of this server, whose origin is the public URL and not always the console's.
pub(crate) fn check_page_origin(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    if has_origin(&api.settings().public_url, headers) {
        return Ok(());
    }
    Err(Problem::forbidden("forbidden", "This form was not sent from its own page."))
}

/// Returns `true` if the request has exactly one `Origin` header with this value.
fn has_origin(origin: &str, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let first = origins.next().map(axum::http::HeaderValue::as_bytes);
    first == Some(origin.as_bytes()) && origins.next().is_none()
}
