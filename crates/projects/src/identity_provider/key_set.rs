//! Key sets as issuers publish them: which keys can verify tokens, and why the others are left out.
//!
//! A set may have keys for other uses, of other types and of other algorithms. They are ignored (RFC 7517, section 5).

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};
use serde_json::Value;

use super::key_algorithm;
use crate::{InvalidVerificationKey, verification_key::Algorithm};

/// Longest `kid`, in bytes.
const MAX_KID_BYTES: usize = 200;

/// base64url as RFC 7515 has it, without padding, and with it as some issuers write it.
pub(super) const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A JSON Web Key. Unknown members are ignored (RFC 7517, section 4).
#[derive(Debug, Clone, Deserialize)]
pub struct JsonWebKey {
    /// Key type: `RSA`, `EC` (with `crv` P-256), `OKP` (with `crv` Ed25519), or `oct`.
    pub kty: String,
    /// Key id; at most 200 bytes.
    pub kid: Option<String>,
    /// Algorithm: RS256, ES256, EdDSA or HS256, the one that goes with the key type.
    pub alg: Option<String>,
    /// Use of the key; must be `sig` if present.
    #[serde(rename = "use")]
    pub usage: Option<String>,
    /// Operations of the key; must contain `verify` if present.
    pub key_ops: Option<Vec<String>>,
    /// Curve of an `EC` or `OKP` key.
    pub crv: Option<String>,
    /// Modulus of an `RSA` key, 2,048 to 8,192 bits.
    pub n: Option<String>,
    /// Exponent of an `RSA` key: odd, at least 3 and below 2^32.
    pub e: Option<String>,
    /// X coordinate of an `EC` key, or the public key of an `OKP` key; 32 bytes in base64url.
    pub x: Option<String>,
    /// Y coordinate of an `EC` key; 32 bytes in base64url.
    pub y: Option<String>,
    /// Bytes of an `oct` key, 32 to 512, in base64url. Omit it to keep the key that is already set under this `kid`.
    #[serde(default, deserialize_with = "secret")]
    pub k: Option<SecretString>,
    /// Private part of a key, which is refused.
    pub d: Option<IgnoredAny>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}

/// An entry of a key set. What is not a JSON Web Key is ignored as a key of an unknown type is.
#[derive(Debug, Clone)]
pub enum KeySetEntry {
    /// A JSON Web Key.
    Key(Box<JsonWebKey>),
    /// Something else.
    Malformed {
        /// Key id, if it has one.
        kid: Option<String>,
    },
}

impl<'de> Deserialize<'de> for KeySetEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let kid = value.get("kid").and_then(Value::as_str).map(str::to_owned);
        // A structure would also be read from an array.
        if !value.is_object() {
            return Ok(Self::Malformed { kid });
        }
        Ok(serde_json::from_value(value).map_or(Self::Malformed { kid }, |key| Self::Key(Box::new(key))))
    }
}

/// The reason why a key of a set is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IgnoredKeyReason {
    /// Its `use` or `key_ops` is not that of a signature.
    OtherUse,
    /// Its type, curve or algorithm is not supported.
    Unsupported,
    /// A member is missing, or is not what its type requires.
    Malformed,
    /// A key before it has the same id and the same value.
    Duplicate,
    /// It is symmetric, has no `k`, and the project does not have exactly one symmetric key with its `kid`.
    SecretMissing,
}

kernel::names! {
    IgnoredKeyReason {
        OtherUse = "other_use",
        Unsupported = "unsupported",
        Malformed = "malformed",
        Duplicate = "duplicate",
        SecretMissing = "secret_missing",
    }
}

/// A key of a set that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredKey {
    /// Key id, if it has one; at most 200 bytes of it.
    pub kid: Option<String>,
    /// The reason.
    pub reason: IgnoredKeyReason,
}

impl IgnoredKey {
    pub(super) fn new(kid: Option<&str>, reason: IgnoredKeyReason) -> Self {
        Self { kid: kid.map(shortened), reason }
    }
}

/// Returns the part of a key id that is shown.
pub(super) fn shortened(kid: &str) -> String {
    kid[..kid.floor_char_boundary(MAX_KID_BYTES)].to_owned()
}

impl InvalidVerificationKey {
    /// Returns the reason under which a key in a set is left out; `None` for one that must not be passed over.
    pub(super) fn as_ignored(self) -> Option<IgnoredKeyReason> {
        Some(match self {
            // It may have been published, which its owner must hear of.
            Self::PrivatePart => return None,
            Self::OtherUse => IgnoredKeyReason::OtherUse,
            Self::Unsupported => IgnoredKeyReason::Unsupported,
            Self::SecretMissing => IgnoredKeyReason::SecretMissing,
            Self::NotAKey
            | Self::LongKeyId
            | Self::RsaModulus
            | Self::RsaExponent
            | Self::NotOnCurve
            | Self::Ed25519Length
            | Self::SecretLength => IgnoredKeyReason::Malformed,
        })
    }
}

/// Returns the bytes of a member without padding; empty if it is not base64url.
fn bytes(text: Option<&str>) -> Vec<u8> {
    text.and_then(|text| BASE64URL.decode(text).ok()).unwrap_or_default()
}

/// Returns an unsigned number without leading zero bytes, which some issuers write before it.
pub(super) fn significant(bytes: &[u8]) -> &[u8] {
    bytes.iter().position(|byte| *byte != 0).map_or(&[][..], |first| &bytes[first..])
}

impl JsonWebKey {
    /// Checks a key and returns its algorithm.
    pub(super) fn validate(&self) -> Result<Algorithm, InvalidVerificationKey> {
        if self.d.is_some() {
            return Err(InvalidVerificationKey::PrivatePart);
        }
        let verifies = |operations: &Vec<String>| operations.iter().any(|operation| operation == "verify");
        if self.usage.as_ref().is_some_and(|usage| usage != "sig")
            || self.key_ops.as_ref().is_some_and(|operations| !verifies(operations))
        {
            return Err(InvalidVerificationKey::OtherUse);
        }
        let algorithm =
            key_algorithm(&self.kty, self.crv.as_deref(), self.alg.as_deref(), self.usage.as_deref());
        let algorithm = algorithm.ok_or(InvalidVerificationKey::Unsupported)?;
        if self.kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID_BYTES) {
            return Err(InvalidVerificationKey::LongKeyId);
        }
        let member = |text: &Option<String>| bytes(text.as_deref());
        match algorithm {
            Algorithm::Rs256 if !(256..=1024).contains(&significant(&member(&self.n)).len()) => {
                Err(InvalidVerificationKey::RsaModulus)
            }
            // With an exponent of 1, every message is its own signature.
            Algorithm::Rs256 if !is_rsa_exponent(&member(&self.e)) => {
                Err(InvalidVerificationKey::RsaExponent)
            }
            Algorithm::Es256 if !is_on_p256(&member(&self.x), &member(&self.y)) => {
                Err(InvalidVerificationKey::NotOnCurve)
            }
            Algorithm::EdDsa if member(&self.x).len() != 32 => Err(InvalidVerificationKey::Ed25519Length),
            Algorithm::Hs256 => match &self.k {
                Some(k) => {
                    let fits = (32..=512).contains(&bytes(Some(k.expose_secret())).len());
                    fits.then_some(algorithm).ok_or(InvalidVerificationKey::SecretLength)
                }
                None => Ok(algorithm),
            },
            algorithm => Ok(algorithm),
        }
    }

    /// Returns `true` if the other key is this one once more.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let secret = |key: &Self| key.k.as_ref().map(|k| bytes(Some(k.expose_secret())));
        let public = |key: &Self| [&key.n, &key.e, &key.x, &key.y].map(|member| bytes(member.as_deref()));
        self.kid == other.kid
            && self.kty == other.kty
            && self.crv == other.crv
            && public(self) == public(other)
            && secret(self) == secret(other)
    }
}

fn is_rsa_exponent(bytes: &[u8]) -> bool {
    let significant = significant(bytes);
    let value = significant.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    significant.len() <= 4 && value >= 3 && value % 2 == 1
}

fn is_on_p256(x: &[u8], y: &[u8]) -> bool {
    x.len() == 32 && y.len() == 32 && p256::PublicKey::from_sec1_bytes(&[&[4][..], x, y].concat()).is_ok()
}
