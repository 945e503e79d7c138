//! Person tokens: JSON Web Tokens (RFC 7519) of people who are signed in to a project's own site, signed with a key of
//! the project's identity provider. Algorithms are RS256, ES256, EdDSA over Ed25519, and HS256 for symmetric keys.
//!
//! A [`JwtVerifier`] verifies the signature; this module checks the claims.

use std::{collections::BTreeMap, fmt, sync::Arc};

use kernel::{Timestamp, id::ProjectId, vault::Vault};
use serde_json::Value;

use crate::identity_provider::{IdentityProvider, find_claim};
pub use crate::verification_key::{Algorithm, KeyMaterial, VerificationKey};

/// Tolerated difference between two clocks, in seconds.
const CLOCK_SKEW_SECS: f64 = 30.0;
/// Most roles of one person; the others are ignored.
const MAX_ROLES: usize = 32;

/// The claims of a verified token.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonClaims {
    /// Id of the person (`sub`).
    pub subject: String,
    /// Roles from the role claim, which has one text or an array of texts; at most 32.
    pub roles: Vec<String>,
    /// Every claim of the token, and those that the settings name.
    pub claims: BTreeMap<String, Value>,
    /// Time from which on the token is refused: `exp` and the tolerated clock skew.
    pub expires_at: Timestamp,
}

/// The reason why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PersonTokenError {
    /// The token is longer than 8 KiB, is not a signed JSON Web Token, or has a critical extension.
    #[error("it is not a valid signed JSON Web Token")]
    Malformed,
    /// The algorithm is not supported.
    #[error("its algorithm is not RS256, ES256, EdDSA or HS256")]
    Algorithm,
    /// No key of the project matches the algorithm and the key id, or the signature is not by such a key.
    #[error("its signature does not match any key of the project")]
    Signature,
    /// The token has expired, or has no `exp` claim.
    #[error("it has expired")]
    Expired,
    /// The `nbf` or `iat` claim is in the future.
    #[error("it is not valid yet")]
    NotYetValid,
    /// The `iss` claim is not the project's issuer.
    #[error("its issuer is not the project's")]
    Issuer,
    /// The `aud` claim is missing, or does not contain the project's audience.
    #[error("its audience is not the project's")]
    Audience,
    /// The `sub` claim is missing, blank or not a text.
    #[error("it has no subject")]
    Subject,
}

/// Verification of a token's signature.
pub trait JwtVerifier: fmt::Debug + Send + Sync {
    /// Returns the claims of a token in compact form (RFC 7515, section 7.1) that one of the keys has signed. Keys with
    /// another key id than the token's, or for another algorithm, are not tried.
    ///
    /// # Errors
    /// [`PersonTokenError::Malformed`], [`PersonTokenError::Algorithm`] or [`PersonTokenError::Signature`].
    fn verify(
        &self,
        token: &str,
        keys: &[VerificationKey],
    ) -> Result<BTreeMap<String, Value>, PersonTokenError>;
}

/// The part of a token that rules know.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonView {
    /// Id of the person (`sub`); empty if there is none, or only blanks.
    pub subject: String,
    /// Roles from the role claim, which has one text or an array of texts; at most 32.
    pub roles: Vec<String>,
    /// Every claim of the token, and those that the settings name.
    pub claims: BTreeMap<String, Value>,
}

/// The claims that a project's rules are about, by their names or paths in tokens.
#[derive(Debug, Clone)]
pub struct ClaimNames {
    role_claim: String,
    named: BTreeMap<String, String>,
}

impl ClaimNames {
    /// Returns those of a provider; without one, the role claim `role` alone.
    #[must_use]
    pub fn of(provider: Option<&IdentityProvider>) -> Self {
        Self {
            role_claim: provider.map_or("role", |provider| &provider.role_claim).to_owned(),
            named: provider.map(|provider| provider.claims.clone()).unwrap_or_default(),
        }
    }

    /// Reads the claims of a token. A claim that the settings name stands for one of the token with the same name, also if
    /// the token has no such claim.
    #[must_use]
    pub fn read(&self, mut claims: BTreeMap<String, Value>) -> PersonView {
        let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| !subject.trim().is_empty());
        let subject = subject.unwrap_or_default().to_owned();
        let roles = match find_claim(&claims, &self.role_claim) {
            Some(Value::String(role)) => vec![role.clone()],
            Some(Value::Array(roles)) => {
                roles.iter().filter_map(Value::as_str).take(MAX_ROLES).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let named: Vec<(&String, Option<Value>)> =
            self.named.iter().map(|(name, path)| (name, find_claim(&claims, path).cloned())).collect();
        for (name, found) in named {
            match found {
                Some(value) => claims.insert(name.clone(), value),
                None => claims.remove(name),
            };
        }
        PersonView { subject, roles, claims }
    }
}

/// An identity provider with opened keys, ready to verify tokens.
#[derive(Debug, Clone)]
pub struct PersonTokenVerifier {
    issuer: String,
    audience: String,
    claims: ClaimNames,
    keys: Arc<[VerificationKey]>,
}

impl PersonTokenVerifier {
    /// Opens the keys of a project's provider. A key that cannot be opened verifies no token.
    #[must_use]
    pub fn new(provider: &IdentityProvider, vault: &Vault, project: ProjectId) -> Self {
        Self {
            issuer: provider.issuer.clone(),
            audience: provider.audience.clone(),
            claims: ClaimNames::of(Some(provider)),
            keys: provider.verification_keys(vault, project).into(),
        }
    }

    /// Verifies a token's signature and claims, and returns the claims.
    ///
    /// # Errors
    /// [`PersonTokenError`] with the first reason to refuse the token.
    pub fn verify(
        &self,
        jwt: &dyn JwtVerifier,
        token: &str,
        now: Timestamp,
    ) -> Result<PersonClaims, PersonTokenError> {
        let claims = jwt.verify(token, &self.keys)?;
        let expires_at = check_claims(self, &claims, now)?;
        let PersonView { subject, roles, claims } = self.claims.read(claims);
        if subject.is_empty() {
            return Err(PersonTokenError::Subject);
        }
        Ok(PersonClaims { subject, roles, claims, expires_at })
    }
}

/// Checks the registered claims and returns when the token expires, clock skew included.
fn check_claims(
    verifier: &PersonTokenVerifier,
    claims: &BTreeMap<String, Value>,
    now: Timestamp,
) -> Result<Timestamp, PersonTokenError> {
    let numeric_date = |name: &str| {
        claims.get(name).map(|value| value.as_f64().ok_or(PersonTokenError::Malformed)).transpose()
    };
    let now = now.timestamp_millis() as f64 / 1_000.0;
    let expires = numeric_date("exp")?.ok_or(PersonTokenError::Expired)? + CLOCK_SKEW_SECS;
    if expires <= now {
        return Err(PersonTokenError::Expired);
    }
    for name in ["nbf", "iat"] {
        if numeric_date(name)?.is_some_and(|from| from - CLOCK_SKEW_SECS > now) {
            return Err(PersonTokenError::NotYetValid);
        }
    }
    if claims.get("iss").and_then(Value::as_str) != Some(&verifier.issuer) {
        return Err(PersonTokenError::Issuer);
    }
    let is_expected_audience = |value: &Value| value.as_str() == Some(&verifier.audience);
    let audience = claims.get("aud").is_some_and(|audience| match audience {
        Value::Array(many) => many.iter().any(is_expected_audience),
        one => is_expected_audience(one),
    });
    if !audience {
        return Err(PersonTokenError::Audience);
    }
    // A number beyond the range of time never comes.
    Ok(Timestamp::from_timestamp_millis((expires * 1_000.0) as i64).unwrap_or(Timestamp::MAX_UTC))
}

#[cfg(test)]
mod tests {
    use kernel::vault::MasterKeys;
    use serde_json::json;

    use super::*;
    use crate::identity_provider::{NewIdentityProvider, tests::Zeros};

    /// A verifier that finds every token signed by the provider's only key, with these claims.
    #[derive(Debug)]
    struct Signed(Value);

    impl JwtVerifier for Signed {
        fn verify(
            &self,
            _token: &str,
            keys: &[VerificationKey],
        ) -> Result<BTreeMap<String, Value>, PersonTokenError> {
            assert_eq!(keys.len(), 1);
            Ok(serde_json::from_value(self.0.clone()).unwrap())
        }
    }

    fn verify(claims: &Value) -> Result<PersonClaims, PersonTokenError> {
        verify_with(&json!({}), claims)
    }

    fn verify_with(settings: &Value, claims: &Value) -> Result<PersonClaims, PersonTokenError> {
        let vault = Vault::new(&MasterKeys::new(vec![[7; 32]]).unwrap());
        let project = ProjectId::from_uuid(uuid::Uuid::from_u128(7));
        let key = json!({ "kty": "oct", "k": "YSBzZWNyZXQgb2YgYXQgbGVhc3QgdGhpcnR5LXR3byBieXRlcw" });
        let mut input = json!({ "issuer": "https://id.example", "audience": "shop", "keys": [key] });
        input.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let input: NewIdentityProvider = serde_json::from_value(input).unwrap();
        let (provider, _) = input.validate_and_seal(None, &vault, &Zeros, project).unwrap();
        let now = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        PersonTokenVerifier::new(&provider, &vault, project).verify(&Signed(claims.clone()), "", now)
    }

    fn claims() -> Value {
        json!({ "sub": "ann", "iss": "https://id.example", "aud": ["other", "shop"], "exp": 1_800_000_100,
            "role": "editor", "team": 7 })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut claims = claims();
        claims[name] = value;
        claims
    }

    #[test]
    fn a_token_identifies_a_person() {
        let person = verify(&claims()).unwrap();
        assert_eq!((person.subject.as_str(), person.roles), ("ann", vec!["editor".to_owned()]));
        assert_eq!(person.claims["team"], 7);
        assert_eq!(person.expires_at.timestamp(), 1_800_000_130);
        let roles = json!((0..40).map(|number| number.to_string()).collect::<Vec<_>>());
        assert_eq!(verify(&with("role", roles)).unwrap().roles.len(), MAX_ROLES);
        assert!(verify(&with("role", json!(7))).unwrap().roles.is_empty());
    }

    #[test]
    fn roles_and_claims_are_found_by_their_paths() {
        let settings = json!({ "roleClaim": "realm_access.roles", "claims": {
            "org": "https://corp.example/org", "team": "app_metadata.team", "uid": "user-id", "region": "app_metadata.region",
        } });
        let mut token = with("realm_access", json!({ "roles": ["admin", 7, "editor"] }));
        token["https://corp.example/org"] = json!("acme");
        token["app_metadata"] = json!({ "team": ["red", "blue"] });
        token["user-id"] = json!("7");
        token["region"] = json!("of the token itself");
        let person = verify_with(&settings, &token).unwrap();
        assert_eq!(person.roles, ["admin", "editor"]);
        let claim = |name: &str| person.claims.get(name);
        assert_eq!(claim("org"), Some(&json!("acme")));
        assert_eq!(claim("team"), Some(&json!(["red", "blue"])));
        assert_eq!(claim("uid"), Some(&json!("7")));
        assert_eq!(claim("region"), None, "a name of the settings is not the token's claim");
        // A claim of that very name comes before the path.
        token["realm_access.roles"] = json!("viewer");
        assert_eq!(verify_with(&settings, &token).unwrap().roles, ["viewer"]);
    }

    #[test]
    fn clocks_may_differ_by_half_a_minute() {
        assert!(verify(&with("exp", json!(1_799_999_980))).is_ok());
        assert!(verify(&with("nbf", json!(1_800_000_020))).is_ok());
        assert!(verify(&with("iat", json!(1_800_000_020.5))).is_ok());
    }

    #[test]
    fn the_first_claim_that_does_not_fit_refuses_the_token() {
        let without_expiry = json!({ "sub": "ann", "iss": "https://id.example", "aud": "shop" });
        for (claims, refused) in [
            (with("exp", json!(1_799_999_960)), PersonTokenError::Expired),
            (with("exp", Value::Null), PersonTokenError::Malformed),
            (with("exp", json!("1800000100")), PersonTokenError::Malformed),
            (without_expiry, PersonTokenError::Expired),
            (with("nbf", json!(1_800_000_040)), PersonTokenError::NotYetValid),
            (with("iat", json!(1_800_000_040)), PersonTokenError::NotYetValid),
            (with("iss", json!("https://other.example")), PersonTokenError::Issuer),
            (with("iss", json!(["https://id.example"])), PersonTokenError::Issuer),
            (with("aud", json!("other")), PersonTokenError::Audience),
            (with("aud", Value::Null), PersonTokenError::Audience),
            (with("sub", json!("")), PersonTokenError::Subject),
            (with("sub", json!("  ")), PersonTokenError::Subject),
            (with("sub", json!("\u{a0}\t")), PersonTokenError::Subject),
            (with("sub", json!(7)), PersonTokenError::Subject),
        ] {
            assert_eq!(verify(&claims), Err(refused), "{claims}");
        }
    }
}
