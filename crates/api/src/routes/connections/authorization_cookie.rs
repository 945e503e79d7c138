//! The cookie that binds an authorization to the session that started it, so that nobody can finish in one browser what was
//! started in another. Its content is sealed and expires after ten minutes.

use std::collections::BTreeMap;

use application::Problem;
use axum::http::{HeaderMap, HeaderValue, header};
use chrono::TimeDelta;
use connections::connections::PendingAuthorization;
use kernel::{
    Timestamp,
    id::{ConnectionId, SessionId, WorkspaceId},
    vault::Vault,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::state::Api;

const LIFETIME: TimeDelta = TimeDelta::minutes(10);
const PURPOSE: &str = "connection_authorization";
/// Bytes of a cookie that every browser keeps (RFC 6265, section 6.1), less those of its name and attributes.
const MAX_VALUE: usize = 3_900;

#[derive(Serialize, Deserialize)]
struct SealedAuthorization {
    session: SessionId,
    workspace: WorkspaceId,
    connector: String,
    display_name: String,
    values: BTreeMap<String, String>,
    connection: Option<ConnectionId>,
    state: String,
    verifier: String,
    until: i64,
}

fn cookie_name(api: &Api) -> &'static str {
    if api.settings().is_https() { "__Host-qala_authorization" } else { "qala_authorization" }
}

/// Returns the cookie for the browser.
pub(super) fn seal_cookie(
    api: &Api,
    session: SessionId,
    pending: &PendingAuthorization,
    now: Timestamp,
) -> Result<HeaderValue, Problem> {
    let pending = pending.clone();
    let sealed = SealedAuthorization {
        session,
        workspace: pending.workspace,
        connector: pending.connector,
        display_name: pending.display_name,
        values: pending.values,
        connection: pending.connection,
        state: pending.state.expose_secret().to_owned(),
        verifier: pending.verifier.expose_secret().to_owned(),
        until: (now + LIFETIME).timestamp_millis(),
    };
    let json = SecretString::from(serde_json::to_string(&sealed).map_err(Problem::internal)?);
    let value = api.vault().seal(api.random(), &[PURPOSE], &json);
    if value.len() > MAX_VALUE {
        return Err(Problem::invalid_field("values", "are too long together"));
    }
    header_value(api, &value, LIFETIME.num_seconds())
}

/// Returns the cookie that deletes it, since it is valid once.
pub(super) fn removal_cookie(api: &Api) -> Result<HeaderValue, Problem> {
    header_value(api, "", 0)
}

fn header_value(api: &Api, value: &str, age: i64) -> Result<HeaderValue, Problem> {
    let secure = if api.settings().is_https() { "; Secure" } else { "" };
    // `Lax`, because the service sends the browser back from another site, with a GET.
    let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}", cookie_name(api));
    let mut value = HeaderValue::from_str(&text).map_err(Problem::internal)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the authorization that this browser's session started; `None` if there is none, it has expired, or `state` is
/// not its own.
pub(super) fn open_cookie(
    api: &Api,
    headers: &HeaderMap,
    session: SessionId,
    state: &str,
    now: Timestamp,
) -> Option<PendingAuthorization> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == cookie_name(api))?;
    unseal(api.vault(), value, session, state, now)
}

fn unseal(
    vault: &Vault,
    value: &str,
    session: SessionId,
    state: &str,
    now: Timestamp,
) -> Option<PendingAuthorization> {
    let json = vault.open(&[PURPOSE], value).ok()?;
    let sealed: SealedAuthorization = serde_json::from_str(json.expose_secret()).ok()?;
    let is_state: bool = subtle::ConstantTimeEq::ct_eq(sealed.state.as_bytes(), state.as_bytes()).into();
    let is_current = sealed.session == session && now.timestamp_millis() < sealed.until;
    (is_state && is_current).then(|| PendingAuthorization {
        workspace: sealed.workspace,
        connector: sealed.connector,
        display_name: sealed.display_name,
        values: sealed.values,
        connection: sealed.connection,
        state: sealed.state.into(),
        verifier: sealed.verifier.into(),
    })
}
