//! Signatures of JSON Web Tokens in compact form (RFC 7515, section 7.1), verified by ring.
//!
//! The key decides on the algorithm, never the token (RFC 8725, section 3.1). Claims are returned as they are; `projects`
//! checks them. See `docs/decisions/0142-verify-person-tokens-with-ring.md`.

mod signature;

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use projects::person_token::{Algorithm, JwtVerifier, PersonTokenError, VerificationKey};
use serde::Deserialize;
use serde_json::Value;

/// Maximum size of a token, in bytes.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// Verifier of RS256, ES256, EdDSA over Ed25519 and HS256.
#[derive(Debug, Clone, Copy, Default)]
pub struct RingJwtVerifier;

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood (RFC 7515, section 4.1.11); none is supported.
    crit: Option<Value>,
}

impl JwtVerifier for RingJwtVerifier {
    fn verify(
        &self,
        token: &str,
        keys: &[VerificationKey],
    ) -> Result<BTreeMap<String, Value>, PersonTokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(PersonTokenError::Malformed);
        }
        let (message, signature) = token.rsplit_once('.').ok_or(PersonTokenError::Malformed)?;
        let (header, claims) = message.split_once('.').ok_or(PersonTokenError::Malformed)?;
        let header: Header =
            serde_json::from_slice(&decode(header)?).map_err(|_| PersonTokenError::Malformed)?;
        if header.crit.is_some() {
            return Err(PersonTokenError::Malformed);
        }
        let algorithm = algorithm(&header.alg).ok_or(PersonTokenError::Algorithm)?;
        let signature = decode(signature)?;
        let is_candidate = |key: &&VerificationKey| {
            let has_id = header.kid.is_none() || key.kid.is_none() || key.kid == header.kid;
            has_id && key.material.algorithm() == algorithm
        };
        let mut candidates = keys.iter().filter(is_candidate);
        if !candidates.any(|key| signature::is_valid(&key.material, message.as_bytes(), &signature)) {
            return Err(PersonTokenError::Signature);
        }
        serde_json::from_slice(&decode(claims)?).map_err(|_| PersonTokenError::Malformed)
    }
}

/// Returns the algorithm of a header's `alg` (RFC 7518, section 3.1; RFC 8037; RFC 9864).
fn algorithm(name: &str) -> Option<Algorithm> {
    Some(match name {
        "RS256" => Algorithm::Rs256,
        "ES256" => Algorithm::Es256,
        "EdDSA" | "Ed25519" => Algorithm::EdDsa,
        "HS256" => Algorithm::Hs256,
        _ => return None,
    })
}

fn decode(part: &str) -> Result<Vec<u8>, PersonTokenError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| PersonTokenError::Malformed)
}

#[cfg(test)]
mod tests {
    use projects::person_token::KeyMaterial;
    use ring::{
        hmac,
        rand::SystemRandom,
        signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
    };
    use serde_json::json;

    use super::*;

    const SECRET: &[u8] = b"a secret of at least thirty-two bytes";

    fn encode(bytes: impl AsRef<[u8]>) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn message(header: &Value) -> String {
        format!("{}.{}", encode(header.to_string()), encode(json!({ "sub": "ann" }).to_string()))
    }

    fn key(kid: Option<&str>, material: KeyMaterial) -> VerificationKey {
        VerificationKey { kid: kid.map(str::to_owned), material }
    }

    fn secret() -> KeyMaterial {
        KeyMaterial::Hmac(SECRET.to_vec().into())
    }

    fn sign_hs256(header: &Value, secret: &[u8]) -> String {
        let message = message(header);
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
        format!("{message}.{}", encode(tag))
    }

    fn verify(key: VerificationKey, token: &str) -> Result<BTreeMap<String, Value>, PersonTokenError> {
        RingJwtVerifier.verify(token, &[key])
    }

    #[test]
    fn a_signed_token_yields_its_claims() {
        let token = sign_hs256(&json!({ "alg": "HS256" }), SECRET);
        assert_eq!(verify(key(None, secret()), &token).unwrap()["sub"], "ann");
        assert_eq!(RingJwtVerifier.verify(&token, &[]), Err(PersonTokenError::Signature));
    }

    #[test]
    fn what_is_no_token_is_malformed() {
        let token = sign_hs256(&json!({ "alg": "HS256" }), SECRET);
        let critical = sign_hs256(&json!({ "alg": "HS256", "crit": ["b64"], "b64": false }), SECRET);
        let long = format!("{token}{}", "A".repeat(MAX_TOKEN_BYTES));
        for bad in ["", "a.b", "a.b.c", &format!("{token}="), &format!("{token}.x"), &critical, &long] {
            assert_eq!(verify(key(None, secret()), bad), Err(PersonTokenError::Malformed), "{bad}");
        }
    }

    #[test]
    fn every_byte_of_a_token_is_signed() {
        let token = sign_hs256(&json!({ "alg": "HS256" }), SECRET);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(verify(key(None, secret()), &changed).is_err(), "{changed}");
        }
    }

    #[test]
    fn a_key_id_selects_among_keys_that_have_one() {
        let token = |kid| sign_hs256(&json!({ "alg": "HS256", "kid": kid }), SECRET);
        assert!(verify(key(Some("a"), secret()), &token("a")).is_ok());
        assert!(verify(key(None, secret()), &token("a")).is_ok());
        assert_eq!(verify(key(Some("a"), secret()), &token("b")), Err(PersonTokenError::Signature));
        let keys = [key(Some("b"), KeyMaterial::Hmac(vec![0; 32].into())), key(Some("b"), secret())];
        assert!(RingJwtVerifier.verify(&token("b"), &keys).is_ok(), "two keys may share an id");
    }

    #[test]
    fn the_key_decides_on_the_algorithm() {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let public = pair.public_key().as_ref().to_vec();
        let edwards = || key(None, KeyMaterial::Ed25519(public.clone()));
        for alg in ["EdDSA", "Ed25519"] {
            let message = message(&json!({ "alg": alg }));
            let token = format!("{message}.{}", encode(pair.sign(message.as_bytes())));
            assert!(verify(edwards(), &token).is_ok(), "{alg}");
        }
        // An attacker may sign with HS256, using the public key as the secret (RFC 8725, section 2.1).
        let forged = sign_hs256(&json!({ "alg": "HS256" }), &public);
        assert_eq!(verify(edwards(), &forged), Err(PersonTokenError::Signature));
        for alg in ["none", "None", "hs256", "HS512", "ES384", "PS256"] {
            let unsigned = format!("{}.", message(&json!({ "alg": alg })));
            assert_eq!(verify(edwards(), &unsigned), Err(PersonTokenError::Algorithm), "{alg}");
        }
    }

    #[test]
    fn points_on_p256_verify_es256() {
        let random = SystemRandom::new();
        let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(kind, document.as_ref(), &random).unwrap();
        let message = message(&json!({ "alg": "ES256" }));
        let signature = pair.sign(&random, message.as_bytes()).unwrap();
        let point = pair.public_key().as_ref().to_vec();
        let token = format!("{message}.{}", encode(signature));
        assert!(verify(key(None, KeyMaterial::P256(point)), &token).is_ok());
    }
}
