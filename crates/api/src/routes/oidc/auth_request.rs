//! The cookie that binds an issuer's response to the browser that started the sign-in, so that nobody can finish in one
//! browser what was started in another. Its content is sealed and expires after ten minutes.

use application::Problem;
use axum::http::{HeaderMap, HeaderValue, header};
use chrono::TimeDelta;
use identity::oidc::AuthRequestState;
use kernel::{Randomness, Timestamp, vault::Vault};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::state::Api;

const LIFETIME: TimeDelta = TimeDelta::minutes(10);
const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Characters of a secret: 256 bits, and the minimum length of a verifier (RFC 7636, section 4.1).
const SECRET_LEN: usize = 43;

#[derive(Serialize, Deserialize)]
struct SealedAuthRequest {
    state: String,
    nonce: String,
    verifier: String,
    next: String,
    until: i64,
}

/// Generates the secrets of a sign-in.
pub(super) fn generate(random: &dyn Randomness) -> AuthRequestState {
    let secret = || SecretString::from(random.string(CHARACTERS, SECRET_LEN));
    AuthRequestState { state: secret(), nonce: secret(), verifier: secret() }
}

fn cookie_name(api: &Api) -> &'static str {
    if api.settings().is_https() { "__Host-qala_oidc" } else { "qala_oidc" }
}

/// Returns the cookie for the browser.
pub(super) fn seal_cookie(
    api: &Api,
    provider: &str,
    auth_state: &AuthRequestState,
    next: &str,
    now: Timestamp,
) -> Result<HeaderValue, Problem> {
    let sealed = SealedAuthRequest {
        state: auth_state.state.expose_secret().to_owned(),
        nonce: auth_state.nonce.expose_secret().to_owned(),
        verifier: auth_state.verifier.expose_secret().to_owned(),
        next: next.to_owned(),
        until: (now + LIFETIME).timestamp_millis(),
    };
    let json = SecretString::from(serde_json::to_string(&sealed).map_err(Problem::internal)?);
    let value = api.vault().seal(api.random(), &["oidc", provider], &json);
    header_value(api, &value, LIFETIME.num_seconds())
}

/// Returns the cookie that deletes it, since it is valid once.
pub(super) fn removal_cookie(api: &Api) -> Result<HeaderValue, Problem> {
    header_value(api, "", 0)
}

fn header_value(api: &Api, value: &str, age: i64) -> Result<HeaderValue, Problem> {
    let secure = if api.settings().is_https() { "; Secure" } else { "" };
    // `Lax`, because the issuer sends the browser back from another site, with a GET.
    let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}", cookie_name(api));
    let mut value = HeaderValue::from_str(&text).map_err(Problem::internal)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the secrets of this browser's sign-in with the issuer, and the path to continue to; `None` if there are
/// none, they have expired, or `state` is not theirs.
pub(super) fn open_cookie(
    api: &Api,
    headers: &HeaderMap,
    provider: &str,
    state: &str,
    now: Timestamp,
) -> Option<(AuthRequestState, String)> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == cookie_name(api))?;
    unseal(api.vault(), value, provider, state, now)
}

fn unseal(
    vault: &Vault,
    value: &str,
    provider: &str,
    state: &str,
    now: Timestamp,
) -> Option<(AuthRequestState, String)> {
    let json = vault.open(&["oidc", provider], value).ok()?;
    let sealed: SealedAuthRequest = serde_json::from_str(json.expose_secret()).ok()?;
    let same: bool = subtle::ConstantTimeEq::ct_eq(sealed.state.as_bytes(), state.as_bytes()).into();
    (same && now.timestamp_millis() < sealed.until).then(|| {
        let auth_state = AuthRequestState {
            state: sealed.state.into(),
            nonce: sealed.nonce.into(),
            verifier: sealed.verifier.into(),
        };
        (auth_state, sealed.next)
    })
}
