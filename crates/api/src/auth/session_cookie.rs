//! The session cookie.

use application::Problem;
use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use identity::sessions::LIFETIME;
use secrecy::{ExposeSecret as _, SecretString};

use crate::{auth::credentials, state::Api};

/// Adds the session cookie to a response; without a secret, deletes it.
pub(crate) fn with_session_cookie(
    api: &Api,
    secret: Option<&SecretString>,
    answer: impl IntoResponse,
) -> Result<Response, Problem> {
    let name = credentials::cookie_name(api);
    let secure = if api.settings().is_https() { "; Secure" } else { "" };
    let (value, age) = secret.map_or(("", 0), |secret| (secret.expose_secret(), LIFETIME.num_seconds()));
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
    let mut cookie = HeaderValue::from_str(&cookie).map_err(Problem::internal)?;
    cookie.set_sensitive(true);
    let mut response = answer.into_response();
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}
