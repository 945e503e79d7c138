//! Tokens of people signed in to a project's own site: JSON Web Tokens (RFC 7519) signed with a key of the project's
//! settings. Signatures are RS256, ES256, EdDSA over Ed25519, and HS256 by a key that says it is symmetric.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::Timestamp;
use ring::{
    hmac,
    signature::{self, RsaPublicKeyComponents, UnparsedPublicKey},
};
use serde::Deserialize;
use serde_json::Value;

use crate::projects::IdentityProvider;

/// The longest token that is read.
const MAX_TOKEN: usize = 8 * 1024;
/// How far two clocks may differ, in seconds.
const SKEW: f64 = 30.0;
/// The most roles of one person.
const MAX_ROLES: usize = 32;

/// What a token says of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    /// Who it is (`sub`).
    pub subject: String,
    /// The roles the role claim holds: one text, or an array of them.
    pub roles: Vec<String>,
    /// Every claim.
    pub claims: BTreeMap<String, Value>,
    /// From when on the token is over, whatever two clocks may differ.
    pub good_until: Timestamp,
}

/// Why a token is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefused {
    /// It is not three parts of base64url, or a part is not what it should be.
    #[error("it is no signed JSON Web Token")]
    Malformed,
    /// Its algorithm is not one of those that are taken.
    #[error("its algorithm is not RS256, ES256, EdDSA or HS256")]
    Algorithm,
    /// No key of the settings fits its algorithm and key id, or the signature is not that key's.
    #[error("its signature is not by a key of the project")]
    Signature,
    /// It is over, or says no end.
    #[error("it has expired")]
    Expired,
    /// It is not yet good.
    #[error("it is not valid yet")]
    Early,
    /// Somebody else issued it.
    #[error("its issuer is another")]
    Issuer,
    /// It is for somebody else, or says not for whom.
    #[error("its audience is another")]
    Audience,
    /// It says not whom it is about.
    #[error("it has no subject")]
    Subject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
    Hs256,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood (RFC 7515 section 4.1.11); none is.
    crit: Option<Value>,
}

#[derive(Deserialize)]
struct Key {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    k: Option<String>,
    d: Option<Value>,
}

impl Key {
    /// The one algorithm a key is for: never the token's choice.
    fn algorithm(&self) -> Option<Algorithm> {
        let (algorithm, name) = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => (Algorithm::Rs256, "RS256"),
            ("EC", Some("P-256")) => (Algorithm::Es256, "ES256"),
            ("OKP", Some("Ed25519")) => (Algorithm::EdDsa, "EdDSA"),
            ("oct", _) => (Algorithm::Hs256, "HS256"),
            _ => return None,
        };
        let fits = self.alg.as_deref().is_none_or(|alg| alg == name || (name == "EdDSA" && alg == "Ed25519"));
        let signs = self.usage.as_deref().is_none_or(|usage| usage == "sig");
        (fits && signs).then_some(algorithm)
    }

    fn verifies(&self, algorithm: Algorithm, message: &[u8], mark: &[u8]) -> bool {
        let part = |text: &Option<String>| text.as_deref().and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        let verified = match algorithm {
            Algorithm::Rs256 => part(&self.n).zip(part(&self.e)).map(|(n, e)| {
                let key = RsaPublicKeyComponents { n: &n, e: &e };
                key.verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, mark).is_ok()
            }),
            Algorithm::Es256 => part(&self.x).zip(part(&self.y)).map(|(x, y)| {
                let point = [&[4][..], &x, &y].concat();
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, mark)
                    .is_ok()
            }),
            Algorithm::EdDsa => part(&self.x)
                .map(|x| UnparsedPublicKey::new(&signature::ED25519, x).verify(message, mark).is_ok()),
            // Compared in constant time.
            Algorithm::Hs256 => part(&self.k)
                .map(|k| hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &k), message, mark).is_ok()),
        };
        verified.unwrap_or(false)
    }
}

/// Whether this is an exponent that signatures can be checked with: with 1 anybody could make them.
fn is_exponent(text: Option<&str>) -> bool {
    let Some(bytes) = text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok()) else { return false };
    let leading = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[leading..];
    let value = bytes.iter().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
    bytes.len() <= 5 && (3..1 << 33).contains(&value) && value % 2 == 1
}

/// Whether the point of a key is one of the curve P-256.
fn is_on_curve(key: &Key) -> bool {
    let part = |text: &Option<String>| text.as_deref().and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let Some((x, y)) = part(&key.x).zip(part(&key.y)) else { return false };
    p256::PublicKey::from_sec1_bytes(&[&[4][..], &x, &y].concat()).is_ok()
}

/// Checks a JSON Web Key (RFC 7517) of the settings.
///
/// # Errors
/// What is off, for people.
pub fn check_key(key: &Value) -> Result<(), &'static str> {
    let key: Key = serde_json::from_value(key.clone()).map_err(|_| "must hold JSON Web Keys")?;
    let length = |text: &Option<String>| {
        text.as_deref().and_then(|text| URL_SAFE_NO_PAD.decode(text).ok()).map_or(0, |bytes| bytes.len())
    };
    if key.d.is_some() {
        return Err("must hold public keys: this one is private, and should no longer be used");
    }
    match key.algorithm() {
        Some(Algorithm::Rs256) if !is_exponent(key.e.as_deref()) => {
            Err("holds an RSA key whose exponent is not an odd number from 3 to 2^33")
        }
        Some(Algorithm::Rs256) if (256..=1024).contains(&length(&key.n)) => Ok(()),
        Some(Algorithm::Rs256) => Err("holds an RSA key that has not 2,048 to 8,192 bits"),
        Some(Algorithm::Es256) if length(&key.x) == 32 && length(&key.y) == 32 => {
            if is_on_curve(&key) {
                Ok(())
            } else {
                Err("holds an EC key whose point is not on P-256")
            }
        }
        Some(Algorithm::EdDsa) if length(&key.x) == 32 => Ok(()),
        Some(Algorithm::Hs256) if (32..=512).contains(&length(&key.k)) => Ok(()),
        Some(Algorithm::Hs256) => Err("holds a symmetric key that has not 32 to 512 bytes"),
        _ => Err("must hold keys of the types RSA, EC with P-256, OKP with Ed25519, or oct"),
    }
}

/// What a token says, if it is to be believed.
///
/// # Errors
/// Why it is not.
pub fn verify(provider: &IdentityProvider, token: &str, now: Timestamp) -> Result<Claims, TokenRefused> {
    if token.len() > MAX_TOKEN {
        return Err(TokenRefused::Malformed);
    }
    let (message, mark) = token.rsplit_once('.').ok_or(TokenRefused::Malformed)?;
    let (header, claims) = message.split_once('.').ok_or(TokenRefused::Malformed)?;
    let part = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenRefused::Malformed);
    let header: Header = serde_json::from_slice(&part(header)?).map_err(|_| TokenRefused::Malformed)?;
    if header.crit.is_some() {
        return Err(TokenRefused::Malformed);
    }
    let algorithm = match header.alg.as_str() {
        "RS256" => Algorithm::Rs256,
        "ES256" => Algorithm::Es256,
        "EdDSA" | "Ed25519" => Algorithm::EdDsa,
        "HS256" => Algorithm::Hs256,
        _ => return Err(TokenRefused::Algorithm),
    };
    let mark = part(mark)?;
    let keys = provider.keys.iter().filter_map(|key| serde_json::from_value::<Key>(key.clone()).ok());
    let mut fitting = keys.filter(|key| {
        let named = header.kid.is_none() || key.kid.is_none() || key.kid == header.kid;
        named && key.algorithm() == Some(algorithm)
    });
    if !fitting.any(|key| key.verifies(algorithm, message.as_bytes(), &mark)) {
        return Err(TokenRefused::Signature);
    }
    let claims: BTreeMap<String, Value> =
        serde_json::from_slice(&part(claims)?).map_err(|_| TokenRefused::Malformed)?;
    let good_until = check(provider, &claims, now)?;
    let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| !subject.is_empty());
    let subject = subject.ok_or(TokenRefused::Subject)?.to_owned();
    let roles = match claims.get(&provider.role_claim) {
        Some(Value::String(role)) => vec![role.clone()],
        Some(Value::Array(roles)) => {
            roles.iter().filter_map(Value::as_str).take(MAX_ROLES).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    Ok(Claims { subject, roles, claims, good_until })
}

/// Until when the claims are good, if they are.
fn check(
    provider: &IdentityProvider,
    claims: &BTreeMap<String, Value>,
    now: Timestamp,
) -> Result<Timestamp, TokenRefused> {
    let moment =
        |name: &str| claims.get(name).map(|value| value.as_f64().ok_or(TokenRefused::Malformed)).transpose();
    let now = now.timestamp_millis() as f64 / 1_000.0;
    let until = moment("exp")?.ok_or(TokenRefused::Expired)? + SKEW;
    if until <= now {
        return Err(TokenRefused::Expired);
    }
    for name in ["nbf", "iat"] {
        if moment(name)?.is_some_and(|from| from - SKEW > now) {
            return Err(TokenRefused::Early);
        }
    }
    if claims.get("iss").and_then(Value::as_str) != Some(&provider.issuer) {
        return Err(TokenRefused::Issuer);
    }
    let meant = |value: &Value| value.as_str() == Some(&provider.audience);
    let audience = claims.get("aud").is_some_and(|audience| match audience {
        Value::Array(many) => many.iter().any(meant),
        one => meant(one),
    });
    if !audience {
        return Err(TokenRefused::Audience);
    }
    // A number too large for a time is a time that never comes.
    Ok(Timestamp::from_timestamp_millis((until * 1_000.0) as i64).unwrap_or(Timestamp::MAX_UTC))
}

#[cfg(test)]
mod tests {
    use ring::{
        rand::SystemRandom,
        signature::{EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
    };
    use serde_json::json;

    use super::*;

    const SECRET: &[u8] = b"a secret of at least thirty-two bytes";

    fn encode(bytes: impl AsRef<[u8]>) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn provider(key: Value) -> IdentityProvider {
        check_key(&key).unwrap();
        IdentityProvider {
            issuer: "https://id.example".into(),
            audience: "shop".into(),
            role_claim: "role".into(),
            keys: vec![key],
        }
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
        let provider = provider(json!({ "kty": "oct", "k": encode(SECRET) }));
        let person = verify(&provider, &hs256(&claims()), now()).unwrap();
        assert_eq!((person.subject.as_str(), person.roles), ("ann", vec!["editor".to_owned()]));
        assert_eq!(person.claims["team"], 7);
        assert_eq!(person.good_until.timestamp(), 1_800_000_130);
        // Clocks may differ by half a minute.
        assert!(verify(&provider, &hs256(&with("exp", json!(1_799_999_980))), now()).is_ok());
        for (claims, refused) in [
            (with("exp", json!(1_799_999_960)), TokenRefused::Expired),
            (with("exp", Value::Null), TokenRefused::Malformed),
            (with("nbf", json!(1_800_000_040)), TokenRefused::Early),
            (with("iss", json!("https://other.example")), TokenRefused::Issuer),
            (with("aud", json!("other")), TokenRefused::Audience),
            (with("aud", Value::Null), TokenRefused::Audience),
            (with("sub", json!("")), TokenRefused::Subject),
            (with("sub", json!(7)), TokenRefused::Subject),
        ] {
            assert_eq!(verify(&provider, &hs256(&claims), now()), Err(refused), "{claims}");
        }
        let token = hs256(&claims());
        for bad in ["", "a.b", "a.b.c", &token[..token.len() - 2], &format!("{token}.x")] {
            assert!(verify(&provider, bad, now()).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_key_says_the_algorithm_and_not_the_token() {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let public = pair.public_key().as_ref().to_vec();
        let edwards = provider(json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(&public), "kid": "a" }));
        let sign = |kid: &str| {
            let message = message(&json!({ "alg": "EdDSA", "kid": kid }), &claims());
            format!("{message}.{}", encode(pair.sign(message.as_bytes())))
        };
        assert!(verify(&edwards, &sign("a"), now()).is_ok());
        assert_eq!(verify(&edwards, &sign("b"), now()), Err(TokenRefused::Signature));
        // The public key taken for a symmetric one is the oldest trick.
        let message = message(&json!({ "alg": "HS256" }), &claims());
        let mark = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), message.as_bytes());
        let forged = format!("{message}.{}", encode(mark));
        assert_eq!(verify(&edwards, &forged, now()), Err(TokenRefused::Signature));
        let none = format!("{}.", super::tests::message(&json!({ "alg": "none" }), &claims()));
        assert_eq!(verify(&edwards, &none, now()), Err(TokenRefused::Algorithm));
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
        check_key(&key).unwrap();
        assert!(verify(&provider(key), &token, now()).is_ok());
    }

    /// The signature is OpenSSL's, by a key that was thrown away.
    #[test]
    fn rsa_is_understood() {
        let n = "zpANIn4AQ7KNh8NPPrRh2yxy9hvN-oSKNgqxby6caBm_NX_MqMVC0S9071mXDTKAE0hsmqp-3LQSnILm9V0Blrn92KsfvqhYdvRbOw-u8kQxHgPNQQN-b227N4J0tkmjSifcptiaU3aUoNblq9s9JQ7DzgrKS2Qlt9CEVWb67iov2VbXSPm-7m2bE1YPySk4nUuWgSkuVN7B7dw-vNFGjwq-XEHlgL5Kd5vAnkFsc6sCQc_pLiASfxDVqxYHnIqSjWN9P42RBRKLFy32zgI_0UsWez4sdGgKbfhkv1yD25y4uruKESDpixfol0t12mrul_5ZbhvbXJstGnDlA2by7w";
        let key = json!({ "kty": "RSA", "n": n, "e": "AQAB" });
        check_key(&key).unwrap();
        let message = "header.claims";
        let mark = "jSIC0t98tzZrgqgSVtDYa24e09foTEKoKDqjH3_GA-UEJ8m-sp-GFKCUyzVbt2r8g7x2nLaLBclygzq6QQbalrc0APbU5W7fo9KuHM2Uy32QKaAnK_qRIQluF7FujpeaMxmytU8oLkcCdv9PF9Z3HqI9ptZrEQ2ghsrZNWv1eJmPz0RmyjgoXPvTA4P3sf_UCIIEKif0aHZI1DKf0mBM0DciU80Y-BpWyqhARhdKhjugwElFkrlNK8vhjwagd9xHmG49qI2cMe99d3N5lCJY1MZYbKFQzJiNHUDG5Ut0ulmwW6iF1UxHANIwwhjA08Qk2X1GgqF_GyS3oufq2R8p5w";
        let key: Key = serde_json::from_value(key).unwrap();
        let mark = URL_SAFE_NO_PAD.decode(mark).unwrap();
        assert!(key.verifies(Algorithm::Rs256, message.as_bytes(), &mark));
        assert!(!key.verifies(Algorithm::Rs256, format!("{message}x").as_bytes(), &mark));
    }

    #[test]
    fn weak_and_private_keys_are_refused() {
        for bad in [
            json!({ "kty": "oct", "k": encode("short") }),
            json!({ "kty": "oct", "k": encode(SECRET), "use": "enc" }),
            json!({ "kty": "RSA", "n": encode([1; 128]), "e": "AQAB" }),
            json!({ "kty": "RSA", "n": encode([1; 256]), "e": "AQAB", "d": "AQAB" }),
            json!({ "kty": "EC", "crv": "P-384", "x": "AA", "y": "AA" }),
            json!({ "kty": "EC", "crv": "P-256", "x": encode([1; 32]), "y": encode([1; 32]) }),
            json!({ "kty": "RSA", "n": encode([255; 256]), "e": "AQ" }),
            json!({ "kty": "RSA", "n": encode([255; 256]), "e": "AAAAAQ" }),
            json!({ "kty": "RSA", "n": encode([255; 256]), "e": "BA" }),
            json!({ "kty": "RSA", "n": encode([255; 256]), "e": encode([255; 200]) }),
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "AA" }),
            json!("key"),
        ] {
            assert!(check_key(&bad).is_err(), "{bad}");
        }
    }
}
