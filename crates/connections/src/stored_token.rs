//! An access token as it is stored, with the refresh token that renews it.

use std::{borrow::Cow, time::Duration};

use kernel::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::outbound::{IssuedToken, RevocableToken};

/// Lifetime of a token whose endpoint does not say.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(600);
/// Longest time for which a token is used.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// Shortest time for which a token is used: one that ended at once would be asked for with every request.
const MIN_LIFETIME: Duration = Duration::from_secs(1);
/// Time before its end at which a token is no longer used, for the request that carries it; at most, and half of the time
/// between its renewal and its end.
const MAX_MARGIN_SECONDS: i64 = 10;

/// An access token, and when it ends.
#[derive(Debug, Clone)]
pub struct StoredToken {
    /// Access token.
    pub access_token: SecretString,
    /// Refresh token (RFC 6749, section 1.5); only of an authorization in a browser.
    pub refresh_token: Option<SecretString>,
    /// Seconds since the start of 1970 at which it is due for renewal.
    renew_at: i64,
    /// Seconds since the start of 1970 at which it ends.
    expires_at: i64,
}

/// The text that is sealed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    access_token: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<Cow<'a, str>>,
    renew_at: i64,
    expires_at: i64,
}

impl StoredToken {
    /// Creates the stored form of a token that was issued now. It is due for renewal at four fifths of its life.
    #[must_use]
    pub fn new(issued: IssuedToken, now: Timestamp) -> Self {
        let lifetime = issued.lifetime.unwrap_or(DEFAULT_LIFETIME).clamp(MIN_LIFETIME, MAX_LIFETIME);
        let seconds = i64::try_from(lifetime.as_secs()).unwrap_or_default();
        let now = now.timestamp();
        Self {
            access_token: issued.access_token,
            refresh_token: issued.refresh_token,
            renew_at: now + (seconds * 4 + 4) / 5,
            expires_at: now + seconds,
        }
    }

    /// Keeps the refresh token of the token before, unless a new one was issued (RFC 6749, section 6).
    #[must_use]
    pub fn succeeding(self, before: Option<Self>) -> Self {
        let refresh_token = self.refresh_token.or_else(|| before.and_then(|before| before.refresh_token));
        Self { refresh_token, ..self }
    }

    /// Reads an opened text; none if it is malformed.
    #[must_use]
    pub fn parse(text: &SecretString) -> Option<Self> {
        let written: Written<'_> = serde_json::from_str(text.expose_secret()).ok()?;
        let secret = |text: Cow<'_, str>| SecretString::from(text.into_owned());
        Some(Self {
            access_token: secret(written.access_token),
            refresh_token: written.refresh_token.map(secret),
            renew_at: written.renew_at,
            expires_at: written.expires_at,
        })
    }

    /// Returns the text to seal.
    #[must_use]
    pub fn to_text(&self) -> SecretString {
        let written = Written {
            access_token: self.access_token.expose_secret().into(),
            refresh_token: self.refresh_token.as_ref().map(|token| token.expose_secret().into()),
            renew_at: self.renew_at,
            expires_at: self.expires_at,
        };
        SecretString::from(serde_json::to_string(&written).unwrap_or_default())
    }

    /// Returns the token by which the whole grant is revoked.
    #[must_use]
    pub fn into_revocable(self) -> RevocableToken {
        self.refresh_token.map_or(RevocableToken::Access(self.access_token), RevocableToken::Refresh)
    }

    /// Returns true until shortly before the end.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        let margin = ((self.expires_at - self.renew_at) / 2).clamp(0, MAX_MARGIN_SECONDS);
        now.timestamp() < self.expires_at - margin
    }

    /// Returns true once a new token should be asked for.
    #[must_use]
    pub fn is_due(&self, now: Timestamp) -> bool {
        now.timestamp() >= self.renew_at
    }

    /// Returns true if this token ends no earlier than another.
    #[must_use]
    pub fn lasts_as_long_as(&self, other: &Self) -> bool {
        self.expires_at >= other.expires_at
    }
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;

    use super::*;

    fn issued(refresh_token: Option<&str>) -> IssuedToken {
        IssuedToken {
            access_token: "access".into(),
            refresh_token: refresh_token.map(Into::into),
            lifetime: Some(Duration::from_secs(100)),
        }
    }

    #[test]
    fn a_grant_is_revoked_by_its_refresh_token_if_it_has_one() {
        let revocable = |token| StoredToken::new(issued(token), at(0)).into_revocable();
        assert!(
            matches!(revocable(Some("r")), RevocableToken::Refresh(token) if token.expose_secret() == "r")
        );
        assert!(
            matches!(revocable(None), RevocableToken::Access(token) if token.expose_secret() == "access")
        );
    }

    #[test]
    fn it_is_due_at_four_fifths_and_ends_before_its_end() {
        let token = StoredToken::new(issued(None), at(0));
        assert!(!token.is_due(at(79_999)) && token.is_due(at(80_000)));
        assert!(token.is_valid(at(89_999)) && !token.is_valid(at(90_000)));
    }

    #[test]
    fn a_token_that_ends_soon_is_used() {
        for seconds in 0..60 {
            let lifetime = Some(Duration::from_secs(seconds));
            let token = StoredToken::new(IssuedToken { lifetime, ..issued(None) }, at(0));
            assert!(token.is_valid(at(0)) && !token.is_due(at(0)), "{seconds}");
            let seconds = i64::try_from(seconds.max(1)).unwrap();
            assert!(!token.is_valid(at(seconds * 1000)), "{seconds}");
        }
    }

    #[test]
    fn the_refresh_token_stays_until_there_is_a_new_one() {
        let refresh_of =
            |token: &StoredToken| token.refresh_token.as_ref().unwrap().expose_secret().to_owned();
        let first = StoredToken::new(issued(Some("one")), at(0));
        let read = StoredToken::parse(&first.to_text()).unwrap();
        assert_eq!(refresh_of(&read), "one");
        let second = StoredToken::new(issued(None), at(0)).succeeding(Some(read));
        assert_eq!(refresh_of(&second), "one");
        let third = StoredToken::new(issued(Some("two")), at(0)).succeeding(Some(second));
        assert_eq!(refresh_of(&third), "two");
    }
}
