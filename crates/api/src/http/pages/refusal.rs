//! Pages for people whose request is refused.

use application::Problem;
use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use kernel::Locale;
use maud::{Markup, html};

use super::{Translations, page, redirect::sign_in_path, translations};
use crate::http::error::status_code;

/// Returns a form that signs out and opens the sign-in page, which continues to `next`.
pub(crate) fn other_account(words: &Translations, next: &str) -> Markup {
    html! {
        form method="post" action="/sign-out" {
            input type="hidden" name="next" value=(sign_in_path(next));
            button.link type="submit" { (words.other_account) }
        }
    }
}

/// Returns a page for a refusal. Server errors are returned as they are, and take the way of all others.
///
/// `then` is the path of this server on which the reader can continue.
///
/// # Errors
/// The problem, if its status is a server error.
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
