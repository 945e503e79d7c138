//! The language of a page: the one that its reader chose, else the best match for `Accept-Language`.

use std::convert::Infallible;

use axum::{
    extract::{FromRequestParts, Path},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use kernel::Locale;
use serde::Deserialize;

use crate::http::{
    extract::Params,
    pages::{local_path::local_path, redirect::see_other},
};

/// Languages of the pages.
pub(crate) const LOCALES: [Locale; 3] = [Locale::En, Locale::Ru, Locale::Kk];
/// Cookie with the language that a reader chose.
const LANGUAGE_COOKIE: &str = "qala_language";
/// One year, in seconds.
const COOKIE_AGE: u32 = 365 * 24 * 60 * 60;
/// Maximum number of language ranges considered; browsers send a handful.
const MAX_LANGUAGE_RANGES: usize = 32;

/// Language of the page in a response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Language(pub(crate) Locale);

impl<S: Sync> FromRequestParts<S> for Language {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(negotiate_locale(&parts.headers)))
    }
}

/// Returns the language for a request with these headers.
pub(crate) fn negotiate_locale(headers: &HeaderMap) -> Locale {
    cookie_locale(headers).or_else(|| accept_language_locale(headers)).unwrap_or_default()
}

fn cookie_locale(headers: &HeaderMap) -> Option<Locale> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == LANGUAGE_COOKIE).and_then(|(_, value)| value.parse().ok())
}

/// Returns the language with the highest weight, the first of several with the same (RFC 9110, section 12.5.4).
fn accept_language_locale(headers: &HeaderMap) -> Option<Locale> {
    let values = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(',')).take(MAX_LANGUAGE_RANGES).filter_map(|range| {
        let (tag, parameter) = range.split_once(';').unwrap_or((range, "q=1"));
        let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
        let weight: f32 = parameter.trim().strip_prefix("q=")?.trim().parse().ok()?;
        let locale = primary.parse::<Locale>().ok()?;
        (weight > 0.0 && weight <= 1.0).then_some((locale, weight))
    });
    let best = ranges.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map(|(locale, _)| locale)
}

/// Path to return to after the choice.
#[derive(Debug, Deserialize)]
pub(super) struct NextQuery {
    #[serde(default)]
    next: Option<String>,
}

/// Stores the language that a reader chose, and returns to their page.
pub(super) async fn set_language(
    Path(locale): Path<String>,
    Params(NextQuery { next }): Params<NextQuery>,
) -> Response {
    let Ok(locale) = locale.parse::<Locale>() else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = see_other(next.as_deref().and_then(local_path).unwrap_or("/sign-in"));
    let cookie = format!("{LANGUAGE_COOKIE}={locale}; Path=/; Max-Age={COOKIE_AGE}; HttpOnly; SameSite=Lax");
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&'static str, &'static str)]) -> Locale {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        negotiate_locale(&headers)
    }

    #[test]
    fn the_readers_choice_takes_precedence_over_accept_language() {
        for (asked, locale) in [
            ("", Locale::En),
            ("ru", Locale::Ru),
            ("kk-KZ,kk;q=0.9,ru;q=0.8,en;q=0.7", Locale::Kk),
            ("RU-ru", Locale::Ru),
            ("de-DE,de;q=0.9,ru;q=0.5,en;q=0.3", Locale::Ru),
            ("en;q=0.5, kk;q=0.8", Locale::Kk),
            ("ru, kk", Locale::Ru),
            ("ru;q=0, kk;q=0.1", Locale::Kk),
            ("fr", Locale::En),
            ("*", Locale::En),
            ("ru;q=nonsense, kk", Locale::Kk),
            ("russian", Locale::En),
            (";;;,,,=", Locale::En),
        ] {
            assert_eq!(of(&[("accept-language", asked)]), locale, "{asked:?}");
        }
        assert_eq!(of(&[("accept-language", "ru"), ("cookie", "a=b; qala_language=kk")]), Locale::Kk);
        assert_eq!(of(&[("accept-language", "ru"), ("cookie", "qala_language=xx")]), Locale::Ru);
        assert_eq!(of(&[("accept-language", "ru"), ("cookie", "xqala_language=kk")]), Locale::Ru);
    }
}
