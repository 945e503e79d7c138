//! Cache of verified person tokens, so that a signature is verified once and not with every request.

use std::{sync::Arc, time::Duration};

use backend_data::{Access, Person};
use kernel::{Timestamp, id::ProjectId, vault::Vault};
use moka::sync::Cache;
use projects::{
    IdentityProvider, PersonClaims, PersonTokenVerifier,
    person_token::{self, PersonTokenError},
};
use sha2::{Digest as _, Sha256};

type Fingerprint = [u8; 32];

/// Time after its last use for which an entry stays in the cache.
const IDLE_TTL: Duration = Duration::from_secs(300);
/// Capacity in bytes of tokens; approximate.
const CAPACITY_BYTES: u64 = 4 << 20;

/// Issuer that a project trusts, and a fingerprint of its settings.
#[derive(Debug, Clone)]
pub struct TrustedIssuer {
    verifier: PersonTokenVerifier,
    fingerprint: Fingerprint,
}

impl TrustedIssuer {
    /// Creates a verifier from the project's settings.
    #[must_use]
    pub fn new(provider: &IdentityProvider, vault: &Vault, project: ProjectId) -> Self {
        // Cannot fail: these settings were read from JSON.
        let text = serde_json::to_vec(provider).unwrap_or_default();
        let fingerprint = Sha256::new_with_prefix(project.to_string()).chain_update(text).finalize().into();
        Self { verifier: PersonTokenVerifier::new(provider, vault, project), fingerprint }
    }
}

/// Access of a verified token.
struct CachedAccess {
    access: Arc<Access>,
    valid_until: Timestamp,
    /// Length of the token in bytes.
    weight: u32,
}

/// Verified tokens, by a hash of the token and of the settings it was verified with.
pub struct PersonTokenCache(Cache<Fingerprint, Arc<CachedAccess>>);

impl Default for PersonTokenCache {
    fn default() -> Self {
        let cache = Cache::builder().max_capacity(CAPACITY_BYTES).time_to_idle(IDLE_TTL);
        Self(cache.weigher(|_, cached: &Arc<CachedAccess>| cached.weight).build())
    }
}

impl PersonTokenCache {
    /// Returns the access of the person with this token.
    ///
    /// # Errors
    /// [`PersonTokenError`] if the token is not valid.
    pub fn verify(
        &self,
        issuer: &TrustedIssuer,
        token: &str,
        now: Timestamp,
    ) -> Result<Arc<Access>, PersonTokenError> {
        let digest = Sha256::new_with_prefix(issuer.fingerprint).chain_update(token).finalize().into();
        if let Some(cached) = self.0.get(&digest).filter(|cached| now < cached.valid_until) {
            return Ok(Arc::clone(&cached.access));
        }
        let PersonClaims { subject, roles, claims, expires_at } =
            person_token::verify_person_token(&issuer.verifier, token, now)?;
        let access = Arc::new(Access::Person(Person { subject, roles, claims }));
        let weight = u32::try_from(token.len()).unwrap_or(u32::MAX);
        self.0.insert(
            digest,
            Arc::new(CachedAccess { access: Arc::clone(&access), valid_until: expires_at, weight }),
        );
        Ok(access)
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use chrono::TimeDelta;
    use hmac::{Hmac, KeyInit as _, Mac as _};
    use kernel::{Id, SeededRandomness, vault::MasterKeys};
    use projects::NewIdentityProvider;
    use serde_json::json;

    use super::*;

    const SECRET: &[u8] = b"a secret of at least thirty-two bytes";

    fn trusted_issuer(audience: &str) -> TrustedIssuer {
        let vault = Vault::new(&MasterKeys::new(vec![[7; 32]]).unwrap());
        let random = SeededRandomness::new(7);
        let project: ProjectId = Id::generate(&random, Timestamp::UNIX_EPOCH);
        let key = json!({ "kty": "oct", "k": URL_SAFE_NO_PAD.encode(SECRET) });
        let provider = json!({ "issuer": "https://id.example", "audience": audience, "keys": [key] });
        let provider: NewIdentityProvider = serde_json::from_value(provider).unwrap();
        TrustedIssuer::new(
            &provider.validate_and_seal(None, &vault, &random, project).unwrap(),
            &vault,
            project,
        )
    }

    fn token(expires_at: Timestamp) -> String {
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let claims = json!({
            "sub": "ann", "iss": "https://id.example", "aud": "shop", "exp": expires_at.timestamp(),
        });
        let message = format!("{}.{}", part(json!({ "alg": "HS256" })), part(claims));
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
        mac.update(message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    #[test]
    fn a_verified_token_is_cached_until_it_expires_and_only_for_the_same_settings() {
        let now = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let (cache, token) = (PersonTokenCache::default(), token(now + TimeDelta::seconds(60)));
        let first = cache.verify(&trusted_issuer("shop"), &token, now).unwrap();
        let again = cache.verify(&trusted_issuer("shop"), &token, now).unwrap();
        assert!(Arc::ptr_eq(&first, &again), "the token was verified again");
        let other = cache.verify(&trusted_issuer("elsewhere"), &token, now);
        assert_eq!(other.unwrap_err(), PersonTokenError::Audience);
        // Clocks may differ by 30 seconds.
        let late = now + TimeDelta::seconds(91);
        let over = cache.verify(&trusted_issuer("shop"), &token, late);
        assert_eq!(over.unwrap_err(), PersonTokenError::Expired);
        let (message, _) = token.rsplit_once('.').unwrap();
        let forged = cache.verify(&trusted_issuer("shop"), &format!("{message}.AAAA"), now);
        assert_eq!(forged.unwrap_err(), PersonTokenError::Signature);
    }
}
