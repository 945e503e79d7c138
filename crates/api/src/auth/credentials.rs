//! The credential of a request: the `Authorization` header or the session cookie.

use application::authentication::Credential;
use axum::http::{HeaderMap, header};

use crate::state::Api;

/// Name of the session cookie over TLS.
const SECURE_COOKIE: &str = "__Host-qala_session";
/// Name of the session cookie without TLS, for development: browsers would refuse the other.
const PLAIN_COOKIE: &str = "qala_session";

/// Returns the credential of a request. `Authorization` takes precedence over the cookie.
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

/// Returns the name of the session cookie.
pub(crate) fn cookie_name(api: &Api) -> &'static str {
    if api.settings().is_https() { SECURE_COOKIE } else { PLAIN_COOKIE }
}
