//! What a page says to somebody who cannot go on.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use kernel::{Locale, Problem};
use maud::{Markup, html};

use super::{Translations, page, redirect::sign_in_path, translations};
use crate::http::error::status_code;

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
