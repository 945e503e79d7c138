//! Pages that Qala serves to people: plain HTML that works without JavaScript and loads nothing from other sites.
//!
//! `maud` escapes every value. Forms post to Qala. A page whose form is answered with a redirect to another site allows
//! that site in its policy, since browsers apply `form-action` to redirects too.

mod content_security_policy;
mod language;
pub(crate) mod local_path;
pub(crate) mod redirect;
pub(crate) mod refusal;
mod translations;

use application::Problem;
use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use kernel::Locale;
use maud::{DOCTYPE, Markup, html};

use content_security_policy::content_security_policy;
pub(crate) use language::{Language, negotiate_locale};
pub(crate) use translations::{Translations, format_markup, format_text, translations};

use crate::{
    http::error::{HtmlPreference, status_code},
    state::{Api, ConsoleEntry},
};

const STYLE: &str = include_str!("pages/page.css");
const LOGO: &str = include_str!("pages/logo.svg");

pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/pages/page.css", get(async || asset("text/css; charset=utf-8", STYLE)))
        .route("/pages/logo.svg", get(async || asset("image/svg+xml", LOGO)))
        .route("/favicon.ico", get(async || asset("image/svg+xml", LOGO)))
        .route("/pages/language/{locale}", get(language::set_language))
}

fn asset(kind: &'static str, content: &'static str) -> Response {
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
    (headers, content).into_response()
}

/// A page.
#[derive(Debug)]
pub(crate) struct Page {
    locale: Locale,
    title: String,
    body: Markup,
    status: StatusCode,
    form_action: Option<String>,
    /// The console, and the addresses that its scripts have.
    console: Option<(ConsoleEntry, String)>,
    refresh: Option<String>,
    path: Option<String>,
    is_branded: bool,
}

/// Returns a page with this language, title and content.
pub(crate) fn page(locale: Locale, title: impl Into<String>, body: Markup) -> Page {
    Page {
        locale,
        title: title.into(),
        body,
        status: StatusCode::OK,
        form_action: None,
        console: None,
        refresh: None,
        path: None,
        is_branded: true,
    }
}

impl Page {
    /// Sets the status; the default is 200.
    pub(crate) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Offers the page in other languages. `path` of this server is the page, or the one from which the reader gets to
    /// it.
    pub(crate) fn at_path(self, path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..self }
    }

    /// Hides the name and the logo of Qala, for pages that an app's owner shows to others.
    pub(crate) fn unbranded(self) -> Self {
        Self { is_branded: false, ..self }
    }

    /// Redirects the browser to `path` of this server at once.
    pub(crate) fn redirect_to(self, path: &str) -> Self {
        Self { refresh: Some(format!("0; url={path}")), ..self }
    }

    /// Allows the page's form to redirect to `source`: an origin (`https://client.example:8443`), or a scheme with its
    /// colon (`com.example.app:`). Anything else is ignored, and the browser then does not leave this server.
    pub(crate) fn allow_form_action(self, source: &str) -> Self {
        let plain = |c: char| c.is_ascii_alphanumeric() || "+-.:/[]".contains(c);
        let form_action = (!source.is_empty() && source.chars().all(plain)).then(|| source.to_owned());
        Self { form_action, ..self }
    }

    /// Loads the web console, which takes the page over. Without JavaScript, and on a server that was built without the
    /// console, the page stays as it is.
    pub(crate) fn with_console(self, api: &Api) -> Self {
        let settings = api.settings();
        let (origin, public) = (&settings.console_origin, &settings.public_url);
        let scripts = if origin == public {
            format!("{origin}/console/")
        } else {
            format!("{origin}/console/ {public}/console/")
        };
        Self { console: api.http().console.clone().map(|console| (console, scripts)), ..self }
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let markup = html! {
            (DOCTYPE)
            html lang=(self.locale) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    @if let Some(next) = &self.refresh { meta http-equiv="refresh" content=(next); }
                    title { (self.title) @if self.is_branded { " · Qala" } }
                    link rel="stylesheet" href="/pages/page.css";
                    @if let Some((console, _)) = &self.console { (console_links(console)) }
                    @if self.is_branded { link rel="icon" type="image/svg+xml" href="/pages/logo.svg"; }
                }
                body {
                    main {
                        @if self.is_branded {
                            p.mark { img src="/pages/logo.svg" alt="" width="24" height="24"; "Qala" }
                        }
                        h1 { (self.title) }
                        (self.body)
                    }
                    @if let Some(at) = &self.path { (language_links(self.locale, at)) }
                }
            }
        };
        let mut response = (self.status, Html(markup.into_string())).into_response();
        let headers = response.headers_mut();
        let policy = content_security_policy(
            self.form_action.as_deref(),
            self.console.as_ref().map(|(_, scripts)| scripts.as_str()),
        );
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // With `no-referrer`, browsers would send `Origin: null` with a form, which is refused.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
        response
    }
}

/// Returns what loads the console. Its module runs after the document has been parsed.
fn console_links(console: &ConsoleEntry) -> Markup {
    html! {
        script src=(console.head) {}
        link rel="stylesheet" href=(console.style);
        @for module in &console.preloads { link rel="modulepreload" href=(module); }
        script type="module" src=(console.script) {}
    }
}

/// Renders errors of a route as pages for clients that accept HTML. Others get the error envelope.
pub(crate) async fn html_errors(request: Request, next: Next) -> Response {
    let accepts = request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let reads = accepts.flat_map(|value| value.split(',')).any(|range| {
        range.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/html"))
    });
    let reader = reads.then(|| HtmlPreference(negotiate_locale(request.headers())));
    let mut response = next.run(request).await;
    if let Some(reader) = reader {
        response.extensions_mut().insert(reader);
    }
    response
}

/// Returns an error as a page.
pub(crate) fn error_page(locale: Locale, problem: &Problem) -> Page {
    let words = translations(locale);
    let body = html! {
        (words.error_markup(problem))
        p { a.button href="/sign-in" { (words.to_sign_in) } }
    };
    page(locale, words.did_not_work, body).at_path("/sign-in").status(status_code(problem.kind))
}

/// Returns links to the page in all languages.
fn language_links(current: Locale, at: &str) -> Markup {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", at).finish();
    html! {
        nav {
            @for locale in language::LOCALES {
                @let name = translations(locale).name;
                @if locale == current {
                    span { (name) }
                } @else {
                    a href={ "/pages/language/" (locale) "?" (query) } lang=(locale) hreflang=(locale) { (name) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    async fn sent(page: Page) -> (String, String) {
        let response = page.into_response();
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (policy, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn values_are_escaped_and_nothing_is_loaded_from_other_sites() {
        let name = "<script>alert(1)</script>";
        let (policy, body) = sent(page(Locale::En, name, html! { p title=(name) { (name) } })).await;
        assert!(!body.contains("<script"), "{body}");
        assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    }

    #[test]
    fn a_page_has_the_status_that_was_set() {
        let refusal = page(Locale::En, "Gone", html! {}).status(StatusCode::GONE);
        assert_eq!(refusal.into_response().status(), StatusCode::GONE);
    }

    #[tokio::test]
    async fn a_form_may_redirect_to_one_more_origin() {
        let (policy, _) =
            sent(page(Locale::En, "", html! {}).allow_form_action("http://127.0.0.1:33418")).await;
        assert!(policy.contains("form-action 'self' http://127.0.0.1:33418;"), "{policy}");
        for bad in
            ["", "https://a.example; script-src *", "https://a.example 'unsafe-inline'", "*", "a\r\nb:"]
        {
            let (policy, _) = sent(page(Locale::En, "", html! {}).allow_form_action(bad)).await;
            assert!(policy.contains("form-action 'self';"), "{bad}: {policy}");
        }
    }
}
