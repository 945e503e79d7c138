//! An identity provider as a caller sends it: its bounds, and the sealing of its symmetric keys.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::{Randomness, id::ProjectId, vault::Vault};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, de::IgnoredAny};

use super::{IdentityProvider, SigningKey, encryption_context, key_algorithm};
use crate::{InvalidInput, InvalidVerificationKey, verification_key::Algorithm};

const MAX_KEYS: usize = 8;
/// Longest issuer, audience or name of a claim, in characters.
const MAX_TEXT_CHARS: usize = 200;
/// Longest `kid`, in bytes.
const MAX_KID_BYTES: usize = 200;

/// The issuer of the tokens that identify a project's signed-in people.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewIdentityProvider {
    /// Required value of the `iss` claim.
    pub issuer: String,
    /// Value that the `aud` claim must contain.
    pub audience: String,
    /// Name of the claim that has the person's roles: one text, or an array of texts.
    #[serde(default = "default_role_claim")]
    pub role_claim: String,
    /// JSON Web Keys (RFC 7517) that tokens are verified with.
    pub keys: Vec<JsonWebKey>,
}

fn default_role_claim() -> String {
    "role".to_owned()
}

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

impl NewIdentityProvider {
    /// Checks the bounds and seals the symmetric keys for `project`. A symmetric key without `k` keeps the bytes that
    /// `before` has under its `kid`.
    ///
    /// # Errors
    /// [`InvalidInput`] for the first field that is out of bounds.
    pub fn validate_and_seal(
        self,
        before: Option<&IdentityProvider>,
        vault: &Vault,
        random: &dyn Randomness,
        project: ProjectId,
    ) -> Result<IdentityProvider, InvalidInput> {
        for (refusal, text) in [
            (InvalidInput::Issuer, &self.issuer),
            (InvalidInput::Audience, &self.audience),
            (InvalidInput::RoleClaim, &self.role_claim),
        ] {
            let fits =
                (1..=MAX_TEXT_CHARS).contains(&text.chars().count()) && !text.chars().any(char::is_control);
            if !fits {
                return Err(refusal);
            }
        }
        if self.keys.is_empty() || self.keys.len() > MAX_KEYS {
            return Err(InvalidInput::VerificationKeyCount);
        }
        let project = project.to_string();
        let mut keys = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            let algorithm = key.validate()?;
            let sealed = match (algorithm, &key.k) {
                (Algorithm::Hs256, Some(secret)) => {
                    Some(vault.seal(random, &encryption_context(&project), secret))
                }
                (Algorithm::Hs256, None) => {
                    let kept = before.into_iter().flat_map(|before| &before.keys);
                    let kept =
                        kept.filter(|kept| kept.is_symmetric() && kept.kid == key.kid).collect::<Vec<_>>();
                    let [kept] = kept[..] else {
                        return Err(InvalidVerificationKey::SecretMissing.into());
                    };
                    keys.push(SigningKey { alg: key.alg, usage: key.usage, ..kept.clone() });
                    continue;
                }
                _ => None,
            };
            let JsonWebKey { kty, kid, alg, usage, crv, n, e, x, y, .. } = key;
            keys.push(SigningKey { kty, kid, alg, usage, crv, n, e, x, y, sealed, k: None });
        }
        Ok(IdentityProvider {
            issuer: self.issuer,
            audience: self.audience,
            role_claim: self.role_claim,
            keys,
        })
    }
}

impl JsonWebKey {
    /// Checks a key and returns its algorithm.
    fn validate(&self) -> Result<Algorithm, InvalidVerificationKey> {
        let bytes = |text: &Option<String>| {
            text.as_deref().and_then(|text| URL_SAFE_NO_PAD.decode(text).ok()).unwrap_or_default()
        };
        if self.d.is_some() {
            return Err(InvalidVerificationKey::PrivatePart);
        }
        if self.kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID_BYTES) {
            return Err(InvalidVerificationKey::LongKeyId);
        }
        let algorithm =
            key_algorithm(&self.kty, self.crv.as_deref(), self.alg.as_deref(), self.usage.as_deref());
        let algorithm = algorithm.ok_or(InvalidVerificationKey::Unsupported)?;
        match algorithm {
            Algorithm::Rs256 if !(256..=1024).contains(&bytes(&self.n).len()) => {
                Err(InvalidVerificationKey::RsaModulus)
            }
            // With an exponent of 1, every message is its own signature.
            Algorithm::Rs256 if !is_rsa_exponent(&bytes(&self.e)) => Err(InvalidVerificationKey::RsaExponent),
            Algorithm::Es256 if !is_on_p256(&bytes(&self.x), &bytes(&self.y)) => {
                Err(InvalidVerificationKey::NotOnCurve)
            }
            Algorithm::EdDsa if bytes(&self.x).len() != 32 => Err(InvalidVerificationKey::Ed25519Length),
            Algorithm::Hs256 => match &self.k {
                Some(k) => {
                    let length = URL_SAFE_NO_PAD.decode(k.expose_secret()).map_or(0, |bytes| bytes.len());
                    let fits = (32..=512).contains(&length);
                    fits.then_some(algorithm).ok_or(InvalidVerificationKey::SecretLength)
                }
                None => Ok(algorithm),
            },
            algorithm => Ok(algorithm),
        }
    }
}

fn is_rsa_exponent(bytes: &[u8]) -> bool {
    let significant = bytes.iter().position(|byte| *byte != 0).map_or(&[][..], |first| &bytes[first..]);
    let value = significant.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    significant.len() <= 4 && value >= 3 && value % 2 == 1
}

fn is_on_p256(x: &[u8], y: &[u8]) -> bool {
    x.len() == 32 && y.len() == 32 && p256::PublicKey::from_sec1_bytes(&[&[4][..], x, y].concat()).is_ok()
}
