//! Whose tokens a project trusts: an issuer and its keys (JSON Web Keys, RFC 7517).
//!
//! Public keys are kept as they are. A symmetric key is a secret, since whoever has it can sign tokens: it is sealed when
//! it is set, and never shown again.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::{Randomness, id::ProjectId, vault::Vault};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};

use crate::{
    ProjectError,
    person::{Algorithm, Key, Material},
};

const MAX_KEYS: usize = 8;
/// The longest text of an issuer, an audience or the name of a claim, in characters.
const MAX_TEXT: usize = 200;
/// The longest `kid`, in bytes.
const MAX_KID: usize = 200;
const INVALID_KEYS: &str = "identity.keys";

/// Whose tokens tell the signed-in people of a project, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityProvider {
    /// What `iss` must be.
    pub issuer: String,
    /// What `aud` must hold.
    pub audience: String,
    /// The claim that holds the role.
    pub role_claim: String,
    /// The keys, at most 8.
    pub keys: Vec<SigningKey>,
}

/// The same as a caller sends it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewIdentityProvider {
    /// What `iss` must be.
    #[cfg_attr(
        feature = "openapi",
        schema(min_length = 1, max_length = 200, example = "https://id.example")
    )]
    pub issuer: String,
    /// What `aud` must hold.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200, example = "shop"))]
    pub audience: String,
    /// The claim that holds the role.
    #[serde(default = "default_role_claim")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200, default = "role"))]
    pub role_claim: String,
    /// JSON Web Keys (RFC 7517).
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 8))]
    pub keys: Vec<JsonWebKey>,
}

fn default_role_claim() -> String {
    "role".to_owned()
}

/// A JSON Web Key (RFC 7517) as a caller sends it. Members that are not named here are ignored, as the RFC asks.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JsonWebKey {
    /// `RSA`, `EC` (with `crv` P-256), `OKP` (with `crv` Ed25519), or `oct`.
    #[cfg_attr(feature = "openapi", schema(example = "EC"))]
    pub kty: String,
    /// The key's name, at most 200 bytes.
    pub kid: Option<String>,
    /// Its algorithm: RS256, ES256, EdDSA or HS256, as the type says.
    pub alg: Option<String>,
    /// `sig`, if it is given.
    #[serde(rename = "use")]
    pub usage: Option<String>,
    /// The curve.
    #[cfg_attr(feature = "openapi", schema(example = "P-256"))]
    pub crv: Option<String>,
    /// The modulus of an RSA key, 2,048 to 8,192 bits.
    pub n: Option<String>,
    /// The exponent of an RSA key.
    pub e: Option<String>,
    /// The point of a curve.
    #[cfg_attr(feature = "openapi", schema(example = "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY"))]
    pub x: Option<String>,
    /// The point of a curve.
    #[cfg_attr(feature = "openapi", schema(example = "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"))]
    pub y: Option<String>,
    /// The bytes of an `oct` key, 32 to 512. Leave it out to keep the key of this `kid` that is set already.
    #[serde(default, deserialize_with = "secret")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, write_only))]
    pub k: Option<SecretString>,
    /// The private part, which is refused.
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub d: Option<IgnoredAny>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningKey {
    /// The key's type.
    pub kty: String,
    /// The key's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// Its algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// What it is used for.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// The curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// The modulus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// The exponent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// The point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// The point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// A symmetric key's bytes, sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// A symmetric key's bytes as earlier versions kept them; [`IdentityProvider::seal`] takes them away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    k: Option<ClearKey>,
}

/// The bytes of a key that is not sealed yet.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ClearKey(String);

impl std::fmt::Debug for ClearKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[REDACTED]")
    }
}

/// What a sealed key is bound to.
fn owner(project: &str) -> [&str; 2] {
    [project, "identity key"]
}

impl SigningKey {
    /// Whether it is a secret.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.kty == "oct"
    }

    /// The key as tokens are verified with it; nothing if it does not open.
    fn open(&self, vault: &Vault, project: ProjectId) -> Option<Key> {
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let algorithm =
            algorithm(&self.kty, self.crv.as_deref(), self.alg.as_deref(), self.usage.as_deref())?;
        let material = match algorithm {
            Algorithm::Rs256 => Material::Rsa { n: bytes(&self.n)?, e: bytes(&self.e)? },
            Algorithm::Es256 => Material::P256([&[4][..], &bytes(&self.x)?, &bytes(&self.y)?].concat()),
            Algorithm::EdDsa => Material::Ed25519(bytes(&self.x)?),
            Algorithm::Hs256 => {
                let text = match (&self.sealed, &self.k) {
                    (Some(sealed), _) => vault.open(&owner(&project.to_string()), sealed).ok()?,
                    (None, Some(ClearKey(clear))) => SecretString::from(clear.clone()),
                    (None, None) => return None,
                };
                Material::hmac(&URL_SAFE_NO_PAD.decode(text.expose_secret()).ok()?)
            }
        };
        Some(Key { kid: self.kid.clone(), material })
    }
}

impl IdentityProvider {
    /// The keys that tokens of `project` are verified with. One that does not open is left out.
    #[must_use]
    pub fn open_keys(&self, vault: &Vault, project: ProjectId) -> Vec<Key> {
        self.keys.iter().filter_map(|key| key.open(vault, project)).collect()
    }

    /// Seals what is not sealed, and seals anew what rests on another master key than the newest. Returns whether
    /// anything changed; a key that does not open stays as it is.
    pub fn seal(&mut self, vault: &Vault, random: &dyn Randomness, project: ProjectId) -> bool {
        let project = project.to_string();
        let owner = owner(&project);
        let mut changed = false;
        for key in &mut self.keys {
            let clear = match (&key.sealed, &key.k) {
                (Some(sealed), _) if !vault.is_newest(sealed) => vault.open(&owner, sealed).ok(),
                (None, Some(ClearKey(clear))) => Some(SecretString::from(clear.clone())),
                _ => None,
            };
            if let Some(clear) = clear {
                key.sealed = Some(vault.seal(random, &owner, &clear));
                key.k = None;
                changed = true;
            }
        }
        changed
    }

    /// The provider without its symmetric keys, which open in this installation and for this project alone; nothing if no
    /// key is left.
    #[must_use]
    pub fn without_secrets(mut self) -> Option<Self> {
        self.keys.retain(|key| !key.is_symmetric());
        (!self.keys.is_empty()).then_some(self)
    }
}

impl NewIdentityProvider {
    /// Checks what was sent and seals its symmetric keys for `project`. A symmetric key without `k` stays as it stands in
    /// `before` under its `kid`.
    ///
    /// # Errors
    /// Naming the field that does not fit.
    pub fn accept(
        self,
        before: Option<&IdentityProvider>,
        vault: &Vault,
        random: &dyn Randomness,
        project: ProjectId,
    ) -> Result<IdentityProvider, ProjectError> {
        let invalid = |field, what| ProjectError::InvalidField { field, what };
        for (field, text) in [
            ("identity.issuer", &self.issuer),
            ("identity.audience", &self.audience),
            ("identity.roleClaim", &self.role_claim),
        ] {
            let fits = (1..=MAX_TEXT).contains(&text.chars().count()) && !text.chars().any(char::is_control);
            if !fits {
                return Err(invalid(field, "must have 1 to 200 printable characters"));
            }
        }
        if self.keys.is_empty() || self.keys.len() > MAX_KEYS {
            return Err(invalid(INVALID_KEYS, "must hold 1 to 8 keys"));
        }
        let project = project.to_string();
        let mut keys = Vec::with_capacity(self.keys.len());
        for key in self.keys {
            let algorithm = key.check().map_err(|what| invalid(INVALID_KEYS, what))?;
            let sealed = match (algorithm, &key.k) {
                (Algorithm::Hs256, Some(secret)) => Some(vault.seal(random, &owner(&project), secret)),
                (Algorithm::Hs256, None) => {
                    let kept = before.into_iter().flat_map(|before| &before.keys);
                    let kept =
                        kept.filter(|kept| kept.is_symmetric() && kept.kid == key.kid).collect::<Vec<_>>();
                    let [kept] = kept[..] else {
                        return Err(invalid(
                            INVALID_KEYS,
                            "must give `k`: no one symmetric key of this `kid` is set",
                        ));
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
    /// The algorithm of a key that fits.
    fn check(&self) -> Result<Algorithm, &'static str> {
        let bytes = |text: &Option<String>| {
            text.as_deref().and_then(|text| URL_SAFE_NO_PAD.decode(text).ok()).unwrap_or_default()
        };
        if self.d.is_some() {
            return Err("must hold public keys: this one is private, and should no longer be used");
        }
        if self.kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID) {
            return Err("must hold keys whose `kid` has at most 200 bytes");
        }
        let algorithm = algorithm(&self.kty, self.crv.as_deref(), self.alg.as_deref(), self.usage.as_deref());
        let algorithm =
            algorithm.ok_or("must hold keys of the types RSA, EC with P-256, OKP with Ed25519, or oct")?;
        match algorithm {
            Algorithm::Rs256 if !(256..=1024).contains(&bytes(&self.n).len()) => {
                Err("holds an RSA key that has not 2,048 to 8,192 bits")
            }
            // An exponent of 1 signs nothing: every message is its own signature.
            Algorithm::Rs256 if !is_rsa_exponent(&bytes(&self.e)) => {
                Err("holds an RSA key whose exponent is not odd, or not from 3 to 2^32")
            }
            Algorithm::Es256 if !is_on_p256(&bytes(&self.x), &bytes(&self.y)) => {
                Err("holds an EC key that is not a point of P-256")
            }
            Algorithm::EdDsa if bytes(&self.x).len() != 32 => {
                Err("holds an Ed25519 key that has not 32 bytes")
            }
            Algorithm::Hs256 => match &self.k {
                Some(k) => {
                    let length = URL_SAFE_NO_PAD.decode(k.expose_secret()).map_or(0, |bytes| bytes.len());
                    let fits = (32..=512).contains(&length);
                    fits.then_some(algorithm).ok_or("holds a symmetric key that has not 32 to 512 bytes")
                }
                None => Ok(algorithm),
            },
            algorithm => Ok(algorithm),
        }
    }
}

/// The one algorithm that a key is for: never the choice of a token.
fn algorithm(kty: &str, crv: Option<&str>, alg: Option<&str>, usage: Option<&str>) -> Option<Algorithm> {
    let (algorithm, name) = match (kty, crv) {
        ("RSA", _) => (Algorithm::Rs256, "RS256"),
        ("EC", Some("P-256")) => (Algorithm::Es256, "ES256"),
        ("OKP", Some("Ed25519")) => (Algorithm::EdDsa, "EdDSA"),
        ("oct", _) => (Algorithm::Hs256, "HS256"),
        _ => return None,
    };
    let fits = alg.is_none_or(|alg| alg == name || (name == "EdDSA" && alg == "Ed25519"));
    (fits && usage.is_none_or(|usage| usage == "sig")).then_some(algorithm)
}

fn is_rsa_exponent(bytes: &[u8]) -> bool {
    let significant = bytes.iter().position(|byte| *byte != 0).map_or(&[][..], |first| &bytes[first..]);
    let value = significant.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    significant.len() <= 4 && value >= 3 && value % 2 == 1
}

fn is_on_p256(x: &[u8], y: &[u8]) -> bool {
    x.len() == 32 && y.len() == 32 && p256::PublicKey::from_sec1_bytes(&[&[4][..], x, y].concat()).is_ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use kernel::vault::MasterKeys;
    use serde_json::{Value, json};

    use super::*;

    /// Randomness that is none, for secrets of a test.
    #[derive(Debug)]
    pub(crate) struct Zeros;

    impl Randomness for Zeros {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    const SECRET: &str = "YSBzZWNyZXQgb2YgYXQgbGVhc3QgdGhpcnR5LXR3byBieXRlcw";

    fn vault(keys: &[u8]) -> Vault {
        Vault::new(&MasterKeys::new(keys.iter().map(|key| [*key; 32]).collect()).unwrap())
    }

    fn project() -> ProjectId {
        ProjectId::from_uuid(uuid::Uuid::from_u128(7))
    }

    fn accept(keys: &[Value], before: Option<&IdentityProvider>) -> Result<IdentityProvider, ProjectError> {
        let input = json!({ "issuer": "https://id.example", "audience": "shop", "keys": keys });
        let input: NewIdentityProvider = serde_json::from_value(input).unwrap();
        input.accept(before, &vault(&[7]), &Zeros, project())
    }

    #[test]
    fn weak_and_private_keys_are_refused() {
        let x = "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY";
        let n = URL_SAFE_NO_PAD.encode([1; 256]);
        for bad in [
            json!({ "kty": "oct", "k": "c2hvcnQ" }),
            json!({ "kty": "oct", "k": SECRET, "use": "enc" }),
            json!({ "kty": "oct", "k": SECRET, "alg": "HS512" }),
            json!({ "kty": "oct", "k": SECRET, "kid": "x".repeat(201) }),
            json!({ "kty": "oct" }),
            json!({ "kty": "RSA", "n": URL_SAFE_NO_PAD.encode([1; 128]), "e": "AQAB" }),
            json!({ "kty": "RSA", "n": n, "e": "AQAB", "d": "AQAB" }),
            json!({ "kty": "RSA", "n": n, "e": "AQ" }),
            json!({ "kty": "RSA", "n": n, "e": "Ag" }),
            json!({ "kty": "RSA", "n": n, "e": "" }),
            json!({ "kty": "RSA", "n": n, "e": n }),
            json!({ "kty": "EC", "crv": "P-384", "x": "AA", "y": "AA" }),
            json!({ "kty": "EC", "crv": "P-256", "x": x, "y": x }),
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "AA" }),
            json!({ "kty": "none" }),
        ] {
            assert!(accept(std::slice::from_ref(&bad), None).is_err(), "{bad}");
        }
        let point = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU" });
        assert!(accept(&[point, json!({ "kty": "RSA", "n": n, "e": "AQAB" })], None).is_ok());
    }

    #[test]
    fn a_symmetric_key_is_kept_sealed_and_only_by_its_name() {
        let both = [json!({ "kty": "oct", "k": SECRET, "kid": "a" }), json!({ "kty": "oct", "k": SECRET })];
        let set = accept(&both, None).unwrap();
        let stored = serde_json::to_string(&set).unwrap();
        assert!(!stored.contains(SECRET), "{stored}");
        assert_eq!(set.open_keys(&vault(&[7]), project()).len(), 2);
        assert!(set.open_keys(&vault(&[8]), project()).is_empty(), "another master key");
        let other = ProjectId::from_uuid(uuid::Uuid::from_u128(8));
        assert!(set.open_keys(&vault(&[7]), other).is_empty(), "another project's record");

        let named = json!({ "kty": "oct", "kid": "a", "alg": "HS256" });
        let kept = accept(std::slice::from_ref(&named), Some(&set)).unwrap();
        assert_eq!(kept.keys[0].sealed, set.keys[0].sealed);
        assert_eq!(kept.keys[0].alg.as_deref(), Some("HS256"));
        assert!(accept(&[json!({ "kty": "oct", "kid": "b" })], Some(&set)).is_err());
        assert!(accept(&[named], None).is_err());
        assert_eq!(set.without_secrets(), None);
    }

    #[test]
    fn keys_of_earlier_versions_and_of_older_master_keys_are_sealed_anew() {
        let clear = json!({
            "issuer": "i", "audience": "a", "roleClaim": "role", "keys": [{ "kty": "oct", "k": SECRET }],
        });
        let mut provider: IdentityProvider = serde_json::from_value(clear).unwrap();
        assert_eq!(provider.open_keys(&vault(&[7]), project()).len(), 1);
        assert!(!format!("{provider:?}").contains(SECRET));
        assert!(provider.seal(&vault(&[7]), &Zeros, project()));
        assert!(!serde_json::to_string(&provider).unwrap().contains(SECRET));
        assert!(!provider.seal(&vault(&[7]), &Zeros, project()), "there is nothing left to do");

        assert!(provider.seal(&vault(&[9, 7]), &Zeros, project()));
        assert_eq!(provider.open_keys(&vault(&[9]), project()).len(), 1);
        let before = provider.clone();
        assert!(!provider.seal(&vault(&[5]), &Zeros, project()), "what does not open stays as it is");
        assert_eq!(provider, before);
    }
}
