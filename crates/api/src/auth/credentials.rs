//! The credential of a request: its header `Authorization`, or the console's cookie.

use application::authentication::Credential;
use axum::http::{HeaderMap, header};

use crate::state::Api;

/// The session cookie over TLS.
const SECURE_COOKIE: &str = "__Host-qala_session";
/// The session cookie of plain-http development, where browsers refuse the other.
const PLAIN_COOKIE: &str = "qala_session";

/// The credential of a request. `Authorization` goes before the cookie.
pub(crate) fn request_credential<'a>(api: &Api, headers: &'a HeaderMap) -> Credential<'a> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let text = value.to_str().unwrap_or_default();
        return match text.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                Credential::Bearer(token.trim())
            }
            _ => Credential::Bearer(""),
        };
    }
    let name = cookie_name(api);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map_or(Credential::Absent, |(_, value)| Credential::Session(value))
}

/// The name of the session cookie.
pub(crate) fn cookie_name(api: &Api) -> &'static str {
    if api.settings().is_https() { SECURE_COOKIE } else { PLAIN_COOKIE }
}
