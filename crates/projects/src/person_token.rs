//! Person tokens: JSON Web Tokens (RFC 7519) of people who are signed in to a project's own site, signed with a key of
//! the project's identity provider. Algorithms are RS256, ES256, EdDSA over Ed25519, and HS256 for symmetric keys.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::{Timestamp, id::ProjectId, vault::Vault};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    identity_provider::IdentityProvider,
    verification_key::{Algorithm, VerificationKey},
};

/// Longest token that is read, in bytes.
const MAX_TOKEN_BYTES: usize = 8 * 1024;
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
    /// Every claim of the token.
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
    /// The `sub` claim is missing, empty or not a text.
    #[error("it has no subject")]
    Subject,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood (RFC 7515, section 4.1.11); none is supported.
    crit: Option<Value>,
}

/// An identity provider with opened keys, ready to verify tokens.
#[derive(Debug, Clone)]
pub struct PersonTokenVerifier {
    issuer: String,
    audience: String,
    role_claim: String,
    keys: Vec<VerificationKey>,
}

impl PersonTokenVerifier {
    /// Opens the keys of a project's provider. A key that cannot be opened verifies no token.
    #[must_use]
    pub fn new(provider: &IdentityProvider, vault: &Vault, project: ProjectId) -> Self {
        Self {
            issuer: provider.issuer.clone(),
            audience: provider.audience.clone(),
            role_claim: provider.role_claim.clone(),
            keys: provider.verification_keys(vault, project),
        }
    }
}

/// Verifies a token's signature and claims, and returns the claims.
///
/// # Errors
/// [`PersonTokenError`] with the first reason to refuse the token.
pub fn verify_person_token(
    verifier: &PersonTokenVerifier,
    token: &str,
    now: Timestamp,
) -> Result<PersonClaims, PersonTokenError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(PersonTokenError::Malformed);
    }
    let (message, signature_bytes) = token.rsplit_once('.').ok_or(PersonTokenError::Malformed)?;
    let (header, claims) = message.split_once('.').ok_or(PersonTokenError::Malformed)?;
    let part = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| PersonTokenError::Malformed);
    let header: Header = serde_json::from_slice(&part(header)?).map_err(|_| PersonTokenError::Malformed)?;
    if header.crit.is_some() {
        return Err(PersonTokenError::Malformed);
    }
    let algorithm = match header.alg.as_str() {
        "RS256" => Algorithm::Rs256,
        "ES256" => Algorithm::Es256,
        "EdDSA" | "Ed25519" => Algorithm::EdDsa,
        "HS256" => Algorithm::Hs256,
        _ => return Err(PersonTokenError::Algorithm),
    };
    let signature_bytes = part(signature_bytes)?;
    let mut candidate_keys = verifier.keys.iter().filter(|key| {
        let named = header.kid.is_none() || key.kid.is_none() || key.kid == header.kid;
        named && key.material.algorithm() == algorithm
    });
    if !candidate_keys.any(|key| key.material.verify_signature(message.as_bytes(), &signature_bytes)) {
        return Err(PersonTokenError::Signature);
    }
    let claims: BTreeMap<String, Value> =
        serde_json::from_slice(&part(claims)?).map_err(|_| PersonTokenError::Malformed)?;
    let expires_at = check_claims(verifier, &claims, now)?;
    let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| !subject.is_empty());
    let subject = subject.ok_or(PersonTokenError::Subject)?.to_owned();
    let roles = match claims.get(&verifier.role_claim) {
        Some(Value::String(role)) => vec![role.clone()],
        Some(Value::Array(roles)) => {
            roles.iter().filter_map(Value::as_str).take(MAX_ROLES).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    Ok(PersonClaims { subject, roles, claims, expires_at })
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
    use ring::{hmac, signature};
    use ring::{
        rand::SystemRandom,
        signature::{EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
    };
    use serde_json::json;

    use super::*;
    use crate::identity_provider::{NewIdentityProvider, tests::Zeros};

    const SECRET: &[u8] = b"a secret of at least thirty-two bytes";

    fn encode(bytes: impl AsRef<[u8]>) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn provider(key: &Value) -> PersonTokenVerifier {
        let vault = Vault::new(&MasterKeys::new(vec![[7; 32]]).unwrap());
        let project = ProjectId::from_uuid(uuid::Uuid::from_u128(7));
        let input = json!({ "issuer": "https://id.example", "audience": "shop", "keys": [key] });
        let input: NewIdentityProvider = serde_json::from_value(input).unwrap();
        let provider = input.validate_and_seal(None, &vault, &Zeros, project).unwrap();
        PersonTokenVerifier::new(&provider, &vault, project)
    }

    fn message(header: &Value, claims: &Value) -> String {
        format!("{}.{}", encode(header.to_string()), encode(claims.to_string()))
    }

    fn hs256(claims: &Value) -> String {
        let message = message(&json!({ "alg": "HS256" }), claims);
        let mark = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), message.as_bytes());
        format!("{message}.{}", encode(mark))
    }

    fn now() -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000, 0).unwrap()
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
    fn a_token_says_who_somebody_is() {
        let provider = provider(&json!({ "kty": "oct", "k": encode(SECRET) }));
        let person = verify_person_token(&provider, &hs256(&claims()), now()).unwrap();
        assert_eq!((person.subject.as_str(), person.roles), ("ann", vec!["editor".to_owned()]));
        assert_eq!(person.claims["team"], 7);
        assert_eq!(person.expires_at.timestamp(), 1_800_000_130);
        // Clocks may differ by half a minute.
        assert!(verify_person_token(&provider, &hs256(&with("exp", json!(1_799_999_980))), now()).is_ok());
        for (claims, refused) in [
            (with("exp", json!(1_799_999_960)), PersonTokenError::Expired),
            (with("exp", Value::Null), PersonTokenError::Malformed),
            (with("nbf", json!(1_800_000_040)), PersonTokenError::NotYetValid),
            (with("iss", json!("https://other.example")), PersonTokenError::Issuer),
            (with("aud", json!("other")), PersonTokenError::Audience),
            (with("aud", Value::Null), PersonTokenError::Audience),
            (with("sub", json!("")), PersonTokenError::Subject),
            (with("sub", json!(7)), PersonTokenError::Subject),
        ] {
            assert_eq!(verify_person_token(&provider, &hs256(&claims), now()), Err(refused), "{claims}");
        }
        let token = hs256(&claims());
        for bad in ["", "a.b", "a.b.c", &token[..token.len() - 2], &format!("{token}.x")] {
            assert!(verify_person_token(&provider, bad, now()).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_key_says_the_algorithm_and_not_the_token() {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let public = pair.public_key().as_ref().to_vec();
        let edwards = provider(&json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(&public), "kid": "a" }));
        let sign = |kid: &str| {
            let message = message(&json!({ "alg": "EdDSA", "kid": kid }), &claims());
            format!("{message}.{}", encode(pair.sign(message.as_bytes())))
        };
        assert!(verify_person_token(&edwards, &sign("a"), now()).is_ok());
        assert_eq!(verify_person_token(&edwards, &sign("b"), now()), Err(PersonTokenError::Signature));
        // An attacker may sign with HS256, using the public key as the secret (RFC 8725, section 2.1).
        let message = message(&json!({ "alg": "HS256" }), &claims());
        let mark = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), message.as_bytes());
        let forged = format!("{message}.{}", encode(mark));
        assert_eq!(verify_person_token(&edwards, &forged, now()), Err(PersonTokenError::Signature));
        let none = format!("{}.", super::tests::message(&json!({ "alg": "none" }), &claims()));
        assert_eq!(verify_person_token(&edwards, &none, now()), Err(PersonTokenError::Algorithm));
    }

    #[test]
    fn elliptic_curves_are_understood() {
        let random = SystemRandom::new();
        let kind = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(kind, document.as_ref(), &random).unwrap();
        let point = pair.public_key().as_ref();
        let key =
            json!({ "kty": "EC", "crv": "P-256", "x": encode(&point[1..33]), "y": encode(&point[33..]) });
        let message = message(&json!({ "alg": "ES256" }), &claims());
        let mark = pair.sign(&random, message.as_bytes()).unwrap();
        let token = format!("{message}.{}", encode(mark));
        assert!(verify_person_token(&provider(&key), &token, now()).is_ok());
    }

    /// The signature was made by OpenSSL with a key that was discarded.
    #[test]
    fn rsa_is_understood() {
        let n = "zpANIn4AQ7KNh8NPPrRh2yxy9hvN-oSKNgqxby6caBm_NX_MqMVC0S9071mXDTKAE0hsmqp-3LQSnILm9V0Blrn92KsfvqhYdvRbOw-u8kQxHgPNQQN-b227N4J0tkmjSifcptiaU3aUoNblq9s9JQ7DzgrKS2Qlt9CEVWb67iov2VbXSPm-7m2bE1YPySk4nUuWgSkuVN7B7dw-vNFGjwq-XEHlgL5Kd5vAnkFsc6sCQc_pLiASfxDVqxYHnIqSjWN9P42RBRKLFy32zgI_0UsWez4sdGgKbfhkv1yD25y4uruKESDpixfol0t12mrul_5ZbhvbXJstGnDlA2by7w";
        let key = json!({ "kty": "RSA", "n": n, "e": "AQAB" });
        let [key] = &provider(&key).keys[..] else { panic!("one key") };
        let message = "header.claims";
        let mark = "jSIC0t98tzZrgqgSVtDYa24e09foTEKoKDqjH3_GA-UEJ8m-sp-GFKCUyzVbt2r8g7x2nLaLBclygzq6QQbalrc0APbU5W7fo9KuHM2Uy32QKaAnK_qRIQluF7FujpeaMxmytU8oLkcCdv9PF9Z3HqI9ptZrEQ2ghsrZNWv1eJmPz0RmyjgoXPvTA4P3sf_UCIIEKif0aHZI1DKf0mBM0DciU80Y-BpWyqhARhdKhjugwElFkrlNK8vhjwagd9xHmG49qI2cMe99d3N5lCJY1MZYbKFQzJiNHUDG5Ut0ulmwW6iF1UxHANIwwhjA08Qk2X1GgqF_GyS3oufq2R8p5w";
        let mark = URL_SAFE_NO_PAD.decode(mark).unwrap();
        assert!(key.material.verify_signature(message.as_bytes(), &mark));
        assert!(!key.material.verify_signature(format!("{message}x").as_bytes(), &mark));
    }
}
