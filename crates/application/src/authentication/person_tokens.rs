//! Cache of verified person tokens, so that a signature is verified once and not with every request.

use std::{sync::Arc, time::Duration};

use backend_data::{Access, Person};
use kernel::{Timestamp, id::ProjectId, vault::Vault};
use moka::sync::Cache;
use projects::{
    IdentityProvider, PersonClaims, PersonTokenVerifier,
    person_token::{JwtVerifier, PersonTokenError},
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
pub struct PersonTokenCache {
    jwt: Arc<dyn JwtVerifier>,
    tokens: Cache<Fingerprint, Arc<CachedAccess>>,
}

impl PersonTokenCache {
    /// Creates an empty cache of tokens that `jwt` has verified.
    #[must_use]
    pub fn new(jwt: Arc<dyn JwtVerifier>) -> Self {
        let tokens = Cache::builder().max_capacity(CAPACITY_BYTES).time_to_idle(IDLE_TTL);
        Self { jwt, tokens: tokens.weigher(|_, cached: &Arc<CachedAccess>| cached.weight).build() }
    }

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
        if let Some(cached) = self.tokens.get(&digest).filter(|cached| now < cached.valid_until) {
            return Ok(Arc::clone(&cached.access));
        }
        let PersonClaims { subject, roles, claims, expires_at } =
            issuer.verifier.verify(&*self.jwt, token, now)?;
        let access = Arc::new(Access::Person(Person { subject, roles, claims }));
        let weight = u32::try_from(token.len()).unwrap_or(u32::MAX);
        self.tokens.insert(
            digest,
            Arc::new(CachedAccess { access: Arc::clone(&access), valid_until: expires_at, weight }),
        );
        Ok(access)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use chrono::TimeDelta;
    use kernel::{Id, SeededRandomness, vault::MasterKeys};
    use projects::{NewIdentityProvider, person_token::VerificationKey};
    use serde_json::{Value, json};

    use super::*;

    /// A verifier of tokens that are their claims, and counts them.
    #[derive(Debug, Default)]
    struct Unsigned(AtomicUsize);

    impl JwtVerifier for Unsigned {
        fn verify(
            &self,
            token: &str,
            _keys: &[VerificationKey],
        ) -> Result<BTreeMap<String, Value>, PersonTokenError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            serde_json::from_str(token).map_err(|_| PersonTokenError::Signature)
        }
    }

    fn trusted_issuer(audience: &str) -> TrustedIssuer {
        let vault = Vault::new(&MasterKeys::new(vec![[7; 32]]).unwrap());
        let random = SeededRandomness::new(7);
        let project: ProjectId = Id::generate(&random, Timestamp::UNIX_EPOCH);
        let key = json!({ "kty": "oct", "k": "YSBzZWNyZXQgb2YgYXQgbGVhc3QgdGhpcnR5LXR3byBieXRlcw" });
        let provider = json!({ "issuer": "https://id.example", "audience": audience, "keys": [key] });
        let provider: NewIdentityProvider = serde_json::from_value(provider).unwrap();
        TrustedIssuer::new(
            &provider.validate_and_seal(None, &vault, &random, project).unwrap().0,
            &vault,
            project,
        )
    }

    fn token(expires_at: Timestamp) -> String {
        let expires = expires_at.timestamp();
        json!({ "sub": "ann", "iss": "https://id.example", "aud": "shop", "exp": expires }).to_string()
    }

    #[test]
    fn a_verified_token_is_cached_until_it_expires_and_only_for_the_same_settings() {
        let jwt = Arc::new(Unsigned::default());
        let verified = || jwt.0.load(Ordering::Relaxed);
        let cache = PersonTokenCache::new(Arc::clone(&jwt) as Arc<dyn JwtVerifier>);
        let now = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let token = token(now + TimeDelta::seconds(60));
        let first = cache.verify(&trusted_issuer("shop"), &token, now).unwrap();
        let again = cache.verify(&trusted_issuer("shop"), &token, now).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(verified(), 1);
        let other = cache.verify(&trusted_issuer("elsewhere"), &token, now);
        assert_eq!((other.unwrap_err(), verified()), (PersonTokenError::Audience, 2));
        // Clocks may differ by 30 seconds.
        let late = now + TimeDelta::seconds(91);
        let expired = cache.verify(&trusted_issuer("shop"), &token, late);
        assert_eq!((expired.unwrap_err(), verified()), (PersonTokenError::Expired, 3));
    }

    #[test]
    fn a_refused_token_is_not_cached() {
        let jwt = Arc::new(Unsigned::default());
        let cache = PersonTokenCache::new(Arc::clone(&jwt) as Arc<dyn JwtVerifier>);
        for attempt in 1..=2 {
            let refused = cache.verify(&trusted_issuer("shop"), "forged", Timestamp::UNIX_EPOCH);
            assert_eq!(refused.unwrap_err(), PersonTokenError::Signature);
            assert_eq!(jwt.0.load(Ordering::Relaxed), attempt);
        }
    }
}
