//! Pages for people: signing in, and letting a command line in. They work without script.

mod device;
mod local;
mod sign_in;

use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use kernel::Problem;
use maud::html;

pub(crate) use local::local_path;

use crate::{access::Access, envelope::status, pages::page, state::Api};

pub(crate) fn router() -> Router<Api> {
    let access = Access::page();
    Router::new()
        .route("/sign-in", access.on(get(sign_in::show)))
        .route("/sign-in/start", access.cost(5).on(post(sign_in::start)))
        .route("/sign-in/email", access.cost(5).on(get(sign_in::landing).post(sign_in::verify)))
        .route("/sign-in/dev", access.cost(5).on(post(sign_in::dev)))
        .route("/sign-out", access.on(post(sign_in::sign_out)))
        .route("/device", access.on(get(device::show)))
        .route("/device/approve", access.on(post(device::approve)))
        .route("/device/deny", access.on(post(device::deny)))
}

/// Sends the browser on with a GET.
pub(crate) fn see_other(to: &str) -> Response {
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/sign-in"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// Sends whoever is not signed in to sign in, and back.
fn to_sign_in(next: &str) -> Response {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    see_other(&format!("/sign-in?{query}"))
}

/// A refusal, for people. What is our own fault goes the way of every other failure.
pub(crate) fn refusal(problem: Problem) -> Result<Response, Problem> {
    let status = status(problem.kind);
    if status.is_server_error() {
        return Err(problem);
    }
    let body = html! {
        p { (problem.message) }
        @if let Some(hint) = &problem.hint { p { (hint) } }
    };
    let mut response = page("That did not work", body).status(status).into_response();
    if let Some(wait) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
    Ok(response)
}
