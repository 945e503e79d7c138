//! Pages for people: signing in, and letting a command line in. They work without script.

mod device;
mod local_path;
mod sign_in;

use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    middleware,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use kernel::{Locale, Problem};
use maud::{Markup, html};

pub(crate) use local_path::local_path;

use crate::{
    access::Access,
    envelope::status_code,
    pages::{Translations, html_errors, page, translations},
    state::Api,
};

pub(crate) fn router() -> Router<Api> {
    let access = Access::page();
    Router::new()
        .route("/", access.protect(get(async || see_other("/sign-in"))))
        .route("/sign-in", access.protect(get(sign_in::show)))
        .route("/sign-in/start", access.cost(5).protect(post(sign_in::start)))
        .route("/sign-in/email", access.cost(5).protect(get(sign_in::show_email_link).post(sign_in::verify)))
        .route("/sign-in/dev", access.cost(5).protect(post(sign_in::dev_sign_in)))
        .route("/sign-out", access.protect(post(sign_in::sign_out)))
        .route("/device", access.protect(get(device::show)))
        .route("/device/approve", access.protect(post(device::approve)))
        .route("/device/deny", access.protect(post(device::deny)))
        .route_layer(middleware::from_fn(html_errors))
}

/// Sends the browser on with a GET.
pub(crate) fn see_other(to: &str) -> Response {
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/sign-in"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// Where one signs in who then goes on to `next`.
pub(crate) fn sign_in_path(next: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    format!("/sign-in?{query}")
}

/// Sends whoever is not signed in to sign in, and back.
fn redirect_to_sign_in(next: &str) -> Response {
    see_other(&sign_in_path(next))
}

/// Signs out, and in again with another account, to come back to `next`.
pub(crate) fn other_account(words: &Translations, next: &str) -> Markup {
    html! {
        form method="post" action="/sign-out" {
            input type="hidden" name="next" value=(sign_in_path(next));
            button.link type="submit" { (words.other_account) }
        }
    }
}

/// A refusal, for people. What is our own fault goes the way of every other failure.
///
/// `then` is what its reader may do about it: where to go on, as a path of this server.
pub(crate) fn refusal_page(locale: Locale, problem: Problem, then: &str) -> Result<Response, Problem> {
    let status = status_code(problem.kind);
    if status.is_server_error() {
        return Err(problem);
    }
    let words = translations(locale);
    let label = if then.starts_with("/sign-in") { words.to_sign_in } else { words.proceed };
    let body = html! {
        (words.error_markup(&problem))
        p { a.button href=(then) { (label) } }
    };
    let mut response = page(locale, words.did_not_work, body).at_path(then).status(status).into_response();
    if let Some(wait) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
    Ok(response)
}
