//! JSON Web Keys (RFC 7517) and the names of algorithms in them (RFC 7518).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    CryptoError, Result,
    algorithm::{Curve, Usage},
    key::Key,
};

/// The members of a key that say what it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Jwk {
    kty: Option<String>,
    #[serde(rename = "use")]
    public_use: Option<String>,
    key_ops: Option<Value>,
    alg: Option<String>,
    ext: Option<bool>,
    pub(super) crv: Option<String>,
    pub(super) k: Option<String>,
    pub(super) x: Option<String>,
    pub(super) y: Option<String>,
    pub(super) d: Option<String>,
    pub(super) n: Option<String>,
    pub(super) e: Option<String>,
    pub(super) p: Option<String>,
    pub(super) q: Option<String>,
    pub(super) dp: Option<String>,
    pub(super) dq: Option<String>,
    pub(super) qi: Option<String>,
    pub(super) oth: Option<Value>,
}

/// The values that the members must have.
pub(super) struct Expected<'a> {
    pub(super) kty: &'a str,
    pub(super) public_use: &'a str,
    /// Names that the algorithm may have.
    pub(super) alg: &'a [String],
    pub(super) usages: &'a [Usage],
    pub(super) extractable: bool,
}

impl Jwk {
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).map_err(|_| CryptoError::data("the JSON Web Key is not valid"))
    }

    pub(super) fn check(&self, expected: &Expected<'_>) -> Result<()> {
        if self.kty.as_deref() != Some(expected.kty) {
            return Err(CryptoError::data(format!("the kty must be {}", expected.kty)));
        }
        if self.alg.as_ref().is_some_and(|alg| !expected.alg.is_empty() && !expected.alg.contains(alg)) {
            return Err(CryptoError::data(format!("the alg must be {}", expected.alg.join(" or "))));
        }
        let public_use = self.public_use.as_deref();
        if !expected.usages.is_empty() && public_use.is_some_and(|given| given != expected.public_use) {
            return Err(CryptoError::data(format!("the use must be {}", expected.public_use)));
        }
        if let Some(operations) = &self.key_ops {
            let Value::Array(operations) = operations else {
                return Err(CryptoError::data("the key_ops must be a list"));
            };
            let allows = |usage: &&Usage| operations.iter().any(|operation| operation == usage.as_str());
            if !expected.usages.iter().all(|usage| allows(&usage)) {
                return Err(CryptoError::data("the key_ops do not allow the usages"));
            }
            let is_twice = |(at, operation): (usize, &Value)| operations[..at].contains(operation);
            if operations.iter().enumerate().any(is_twice) {
                return Err(CryptoError::data("the key_ops name a usage twice"));
            }
        }
        if self.ext == Some(false) && expected.extractable {
            return Err(CryptoError::data("the key must not be extractable"));
        }
        Ok(())
    }

    pub(super) fn check_curve(&self, curve: &str) -> Result<()> {
        if self.crv.as_deref() == Some(curve) {
            return Ok(());
        }
        Err(CryptoError::data(format!("the crv must be {curve}")))
    }
}

/// Decodes a member that is bytes.
pub(super) fn decode(name: &str, member: Option<&String>) -> Result<Vec<u8>> {
    member
        .and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
        .ok_or_else(|| CryptoError::data(format!("{name} must be base64url without padding")))
}

/// Decodes a coordinate or a scalar of a curve, which has the length of its field.
pub(super) fn decode_field(name: &str, member: Option<&String>, curve: Curve) -> Result<Vec<u8>> {
    let bytes = decode(name, member)?;
    if bytes.len() != curve.field_length() {
        return Err(CryptoError::data(format!("{name} must have {} bytes", curve.field_length())));
    }
    Ok(bytes)
}

/// Decodes a number, which has no zeros before it.
pub(super) fn decode_number(name: &str, member: Option<&String>) -> Result<Vec<u8>> {
    let bytes = decode(name, member)?;
    if bytes.first().is_none_or(|first| *first == 0) {
        return Err(CryptoError::data(format!("{name} must be a number without leading zeros")));
    }
    Ok(bytes)
}

/// Returns a key with these members, and those that every exported key has.
pub(super) fn encode<'a>(
    key: &Key,
    kty: &str,
    alg: Option<String>,
    members: impl IntoIterator<Item = (&'a str, Value)>,
) -> Value {
    let mut jwk = json!({ "kty": kty });
    for (name, value) in members {
        jwk[name] = value;
    }
    if let Some(alg) = alg {
        jwk["alg"] = alg.into();
    }
    jwk["key_ops"] = key.usages.iter().map(|usage| usage.as_str()).collect();
    jwk["ext"] = key.extractable.into();
    jwk
}

/// Encodes a member that is bytes.
pub(super) fn text(bytes: impl AsRef<[u8]>) -> Value {
    URL_SAFE_NO_PAD.encode(bytes).into()
}
