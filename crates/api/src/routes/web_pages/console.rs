//! The document of the web console. It is the same at all addresses of the console: the script reads the address.

use axum::extract::State;
use maud::html;

use crate::{
    http::pages::{Language, Page, page, translations},
    state::Api,
};

/// Shows the console, or how to get it if the server was built without it.
pub(super) async fn show(State(api): State<Api>, Language(locale): Language) -> Page {
    let words = translations(locale);
    let body = html! {
        @if api.http().console.is_some() {
            noscript { p { (words.console_needs_javascript) } }
        } @else {
            p { (words.console_missing) }
            p { (words.console_missing_next) }
        }
        p { a href="/sign-in" { (words.to_sign_in) } }
        p { a href="/docs" { (words.reference) } }
    };
    let title = if api.http().console.is_some() { words.console } else { words.console_missing_title };
    page(locale, title, body).at_path("/").with_console(&api)
}
