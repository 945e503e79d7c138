//! An access token as it is stored.

use std::time::Duration;

use connections::outbound::IssuedToken;
use kernel::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

/// Lifetime of a token whose endpoint does not say.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(600);
/// Longest time for which a token is used.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// Time before its end at which a token is no longer used, for the request that carries it.
const MARGIN_SECONDS: i64 = 10;

/// An access token, and when it ends.
#[derive(Debug, Clone)]
pub(super) struct StoredToken {
    pub(super) access_token: SecretString,
    /// Seconds since the start of 1970 at which it is due for renewal.
    renew_at: i64,
    /// Seconds since the start of 1970 at which it ends.
    expires_at: i64,
}

/// The text that is sealed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    access_token: std::borrow::Cow<'a, str>,
    renew_at: i64,
    expires_at: i64,
}

impl StoredToken {
    pub(super) fn new(issued: IssuedToken, now: Timestamp) -> Self {
        let lifetime = issued.lifetime.unwrap_or(DEFAULT_LIFETIME).min(MAX_LIFETIME);
        let seconds = i64::try_from(lifetime.as_secs()).unwrap_or_default();
        let now = now.timestamp();
        Self { access_token: issued.access_token, renew_at: now + seconds * 4 / 5, expires_at: now + seconds }
    }

    pub(super) fn parse(text: &SecretString) -> Option<Self> {
        let written: Written<'_> = serde_json::from_str(text.expose_secret()).ok()?;
        Some(Self {
            access_token: SecretString::from(written.access_token.into_owned()),
            renew_at: written.renew_at,
            expires_at: written.expires_at,
        })
    }

    pub(super) fn to_text(&self) -> SecretString {
        let access_token = self.access_token.expose_secret().into();
        let written = Written { access_token, renew_at: self.renew_at, expires_at: self.expires_at };
        SecretString::from(serde_json::to_string(&written).unwrap_or_default())
    }

    /// Returns true until shortly before the end.
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        now.timestamp() < self.expires_at - MARGIN_SECONDS
    }

    /// Returns true once a new token should be asked for.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        now.timestamp() >= self.renew_at
    }

    pub(super) fn lasts_as_long_as(&self, other: &Self) -> bool {
        self.expires_at >= other.expires_at
    }
}
