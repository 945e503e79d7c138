//! The authorization endpoint, to which clients send a person's browser (draft-ietf-oauth-v2-1, section 4.1.1).

use axum::{
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use identity::oauth::{
    AgentAccess, RedirectUri,
    authorizations::{AuthorizationRequest, create_authorization},
    pkce::CodeChallenge,
    resource::{is_mcp_resource, mcp_resource_url},
};
use kernel::{Caller, Locale};
use maud::html;

use super::form::Parameters;
use crate::{
    auth::{agent::public_context, credentials},
    http::pages::{Page, negotiate_locale, page, redirect::sign_in_path, translations},
    state::Api,
};
use application::{Problem, authentication::Credential, oauth_clients::FoundClient, unit};

/// Maximum length of `state` in bytes.
const MAX_STATE_BYTES: usize = 2048;

/// Error code and description for a known client with a valid redirect URI.
#[derive(Debug, PartialEq, Eq)]
struct AuthorizationError(&'static str, &'static str);

pub(super) async fn authorize(State(api): State<Api>, request: Request) -> Response {
    let locale = negotiate_locale(request.headers());
    start_authorization(&api, locale, &request.into_parts().0)
        .await
        .unwrap_or_else(|problem| failed_page(locale, &problem).into_response())
}

async fn start_authorization(api: &Api, locale: Locale, request: &Parts) -> Result<Response, Problem> {
    let words = translations(locale);
    let ctx = public_context(api, &request.extensions, 2)?;
    let query = request.uri.query().unwrap_or_default();
    let Some(parameters) = Parameters::parse(query.as_bytes()) else {
        return Ok(refused_page(locale, words.too_long).into_response());
    };
    // Until both are valid, the browser is not redirected (section 4.1.2.1).
    let found = match parameters.get("client_id") {
        Some(id) => api.find_oauth_client(id, ctx.client_ip).await?,
        None => FoundClient::Unknown,
    };
    let client = match found {
        FoundClient::Known(client) => client,
        FoundClient::Unknown => return Ok(refused_page(locale, words.unknown_client).into_response()),
        FoundClient::Unreadable => {
            return Ok(refused_page(locale, words.unreadable_client).into_response());
        }
    };
    let Some(redirect) = parameters.get("redirect_uri").and_then(|uri| client.find_redirect_uri(uri)) else {
        return Ok(refused_page(locale, words.foreign_redirect).into_response());
    };
    match parse_request(&parameters, redirect.clone(), &api.settings().public_url) {
        Ok(ask) => {
            let authorization = api
                .transaction(unit!(|tx| create_authorization(tx, &ctx, &client, ask.clone()).await))
                .await?;
            see_other(&format!("{}/oauth/consent/{}", api.settings().public_url, authorization.id))
        }
        // Only signed-in people are redirected to a client with an error. Otherwise anybody could use this endpoint to
        // redirect others anywhere (section 7.13.2).
        Err(_) if !is_signed_in(api, request, ctx.now).await? => {
            see_other(&sign_in_path(request.uri.path_and_query().map_or("/", |path| path.as_str())))
        }
        Err(AuthorizationError(error, description)) => {
            let mut answer = vec![("error", error), ("error_description", description)];
            if let Some(state) = parameters.get("state").filter(|state| state.len() <= MAX_STATE_BYTES) {
                answer.push(("state", state));
            }
            answer.push(("iss", &api.settings().public_url));
            see_other(&redirect.with_query(&answer))
        }
    }
}

/// Parses the client's request.
fn parse_request(
    parameters: &Parameters,
    redirect: RedirectUri,
    base: &str,
) -> Result<AuthorizationRequest, AuthorizationError> {
    if parameters.has_duplicates() {
        return Err(AuthorizationError("invalid_request", "A parameter is given more than once."));
    }
    match parameters.get("response_type") {
        Some("code") => {}
        Some(_) => {
            return Err(AuthorizationError("unsupported_response_type", "response_type must be code."));
        }
        None => return Err(AuthorizationError("invalid_request", "response_type is missing.")),
    }
    if parameters.get("code_challenge_method") != Some("S256") {
        return Err(AuthorizationError("invalid_request", "code_challenge_method must be S256."));
    }
    let challenge = parameters.get("code_challenge").and_then(CodeChallenge::parse);
    let challenge = challenge.ok_or(AuthorizationError(
        "invalid_request",
        "code_challenge must be the SHA-256 of the verifier in base64url.",
    ))?;
    let state = parameters.get("state");
    if state.is_some_and(|state| state.len() > MAX_STATE_BYTES || state.contains('\0')) {
        return Err(AuthorizationError("invalid_request", "state is too long or not valid."));
    }
    let requested = AgentAccess::from_scope(parameters.get("scope").unwrap_or_default())
        .ok_or(AuthorizationError("invalid_scope", "scope may be read, write or both."))?;
    if parameters.get("resource").is_some_and(|resource| !is_mcp_resource(resource, base)) {
        return Err(AuthorizationError(
            "invalid_target",
            "resource must be the agent server of this server.",
        ));
    }
    let audience = mcp_resource_url(base);
    Ok(AuthorizationRequest {
        redirect_uri: redirect,
        state: state.map(str::to_owned),
        challenge,
        audience,
        requested,
    })
}

pub(super) async fn is_signed_in(
    api: &Api,
    request: &Parts,
    now: kernel::Timestamp,
) -> Result<bool, Problem> {
    let presented = credentials::request_credential(api, &request.headers);
    Ok(matches!(presented, Credential::Session(_))
        && matches!(api.caller(&presented, now).await?, Caller::Session(_)))
}

pub(super) fn see_other(location: &str) -> Result<Response, Problem> {
    let mut location = HeaderValue::from_str(location).map_err(Problem::internal)?;
    // It may have a code.
    location.set_sensitive(true);
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

/// Returns a page for a request that is refused without a redirect.
pub(super) fn refused_page(locale: Locale, why: &str) -> Page {
    let words = translations(locale);
    let body = html! {
        p { (why) }
        p.quiet { (words.nothing_allowed) }
    };
    page(locale, words.does_not_work, body).status(StatusCode::BAD_REQUEST)
}

/// Returns a page for an error.
pub(super) fn failed_page(locale: Locale, problem: &Problem) -> Page {
    use application::ProblemKind::{Forbidden, Internal, NotFound, RateLimited, Unavailable};
    let status = match problem.kind {
        Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        RateLimited => StatusCode::TOO_MANY_REQUESTS,
        NotFound => StatusCode::NOT_FOUND,
        Forbidden => StatusCode::FORBIDDEN,
        _ => StatusCode::BAD_REQUEST,
    };
    if status.is_server_error() {
        tracing::error!(
            error = problem as &dyn std::error::Error,
            cause = std::error::Error::source(problem),
            "page failed"
        );
    }
    let words = translations(locale);
    page(locale, words.does_not_work, words.error_markup(problem)).status(status)
}
