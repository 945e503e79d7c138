//! The issuer whose tokens a project trusts, and its keys (JSON Web Keys, RFC 7517).
//!
//! Public keys are stored as they are. A symmetric key is a secret, since anyone who has it can sign tokens: it is
//! sealed when it is set, and never shown again.

mod provider_input;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::{Randomness, id::ProjectId, vault::Vault};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::verification_key::{Algorithm, KeyMaterial, VerificationKey};

pub use provider_input::{JsonWebKey, NewIdentityProvider};

/// The stored issuer of a project's person tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityProvider {
    /// Required value of the `iss` claim.
    pub issuer: String,
    /// Value that the `aud` claim must contain.
    pub audience: String,
    /// Name of the claim that has the person's roles.
    pub role_claim: String,
    /// Keys that tokens are verified with; at most 8.
    pub keys: Vec<SigningKey>,
}

/// A stored JSON Web Key; the members are those of RFC 7517 and RFC 7518 unless described otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningKey {
    /// Key type: `RSA`, `EC`, `OKP` or `oct`.
    pub kty: String,
    /// Key id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// Algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// Use of the key; `sig` if present.
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// Curve of an `EC` or `OKP` key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// Modulus of an `RSA` key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// Exponent of an `RSA` key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    /// X coordinate of an `EC` key, or the public key of an `OKP` key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Y coordinate of an `EC` key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// Bytes of a symmetric key, in base64url and sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// Bytes of a symmetric key as earlier versions stored them; [`IdentityProvider::seal_keys`] replaces them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    k: Option<PlaintextKey>,
}

/// The bytes of a key that is not sealed yet; `Debug` redacts them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PlaintextKey(String);

impl std::fmt::Debug for PlaintextKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[REDACTED]")
    }
}

/// Returns the context that a sealed key is bound to, so that it opens for this project alone.
fn encryption_context(project: &str) -> [&str; 2] {
    [project, "identity key"]
}

impl SigningKey {
    /// Returns `true` if the key is symmetric, and so a secret.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.kty == "oct"
    }

    /// Converts the key for verification; none if it is malformed or cannot be opened.
    fn to_verification_key(&self, vault: &Vault, project: ProjectId) -> Option<VerificationKey> {
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let algorithm =
            key_algorithm(&self.kty, self.crv.as_deref(), self.alg.as_deref(), self.usage.as_deref())?;
        let material = match algorithm {
            Algorithm::Rs256 => KeyMaterial::Rsa { n: bytes(&self.n)?, e: bytes(&self.e)? },
            Algorithm::Es256 => KeyMaterial::P256([&[4][..], &bytes(&self.x)?, &bytes(&self.y)?].concat()),
            Algorithm::EdDsa => KeyMaterial::Ed25519(bytes(&self.x)?),
            Algorithm::Hs256 => {
                let text = match (&self.sealed, &self.k) {
                    (Some(sealed), _) => {
                        vault.open(&encryption_context(&project.to_string()), sealed).ok()?
                    }
                    (None, Some(PlaintextKey(clear))) => SecretString::from(clear.clone()),
                    (None, None) => return None,
                };
                KeyMaterial::Hmac(URL_SAFE_NO_PAD.decode(text.expose_secret()).ok()?.into())
            }
        };
        Some(VerificationKey { kid: self.kid.clone(), material })
    }
}

impl IdentityProvider {
    /// Returns the keys that verify tokens of `project`, without those that are malformed or cannot be opened.
    #[must_use]
    pub fn verification_keys(&self, vault: &Vault, project: ProjectId) -> Vec<VerificationKey> {
        self.keys.iter().filter_map(|key| key.to_verification_key(vault, project)).collect()
    }

    /// Seals keys that are not sealed, and reseals those sealed with another master key than the newest. A key that
    /// cannot be opened stays as it is. Returns `true` if anything changed.
    pub fn seal_keys(&mut self, vault: &Vault, random: &dyn Randomness, project: ProjectId) -> bool {
        let project = project.to_string();
        let owner = encryption_context(&project);
        let mut changed = false;
        for key in &mut self.keys {
            let clear = match (&key.sealed, &key.k) {
                (Some(sealed), _) if !vault.uses_newest_key(sealed) => vault.open(&owner, sealed).ok(),
                (None, Some(PlaintextKey(clear))) => Some(SecretString::from(clear.clone())),
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

    /// Removes the symmetric keys, which open in this installation and for this project alone; none if no key is left.
    #[must_use]
    pub fn without_symmetric_keys(mut self) -> Option<Self> {
        self.keys.retain(|key| !key.is_symmetric());
        (!self.keys.is_empty()).then_some(self)
    }
}

/// Returns the one algorithm that a key is for. The token has no say in it (RFC 8725, section 3.1).
fn key_algorithm(kty: &str, crv: Option<&str>, alg: Option<&str>, usage: Option<&str>) -> Option<Algorithm> {
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

#[cfg(test)]
pub(crate) mod tests {
    use kernel::vault::MasterKeys;
    use serde_json::{Value, json};

    use super::*;
    use crate::InvalidInput;

    /// Randomness that fills with zeros.
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

    fn accept(keys: &[Value], before: Option<&IdentityProvider>) -> Result<IdentityProvider, InvalidInput> {
        let input = json!({ "issuer": "https://id.example", "audience": "shop", "keys": keys });
        let input: NewIdentityProvider = serde_json::from_value(input).unwrap();
        input.validate_and_seal(before, &vault(&[7]), &Zeros, project())
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
        assert_eq!(set.verification_keys(&vault(&[7]), project()).len(), 2);
        assert!(set.verification_keys(&vault(&[8]), project()).is_empty(), "another master key");
        let other = ProjectId::from_uuid(uuid::Uuid::from_u128(8));
        assert!(set.verification_keys(&vault(&[7]), other).is_empty(), "another project's record");

        let named = json!({ "kty": "oct", "kid": "a", "alg": "HS256" });
        let kept = accept(std::slice::from_ref(&named), Some(&set)).unwrap();
        assert_eq!(kept.keys[0].sealed, set.keys[0].sealed);
        assert_eq!(kept.keys[0].alg.as_deref(), Some("HS256"));
        assert!(accept(&[json!({ "kty": "oct", "kid": "b" })], Some(&set)).is_err());
        assert!(accept(&[named], None).is_err());
        assert_eq!(set.without_symmetric_keys(), None);
    }

    #[test]
    fn keys_of_earlier_versions_and_of_older_master_keys_are_sealed_anew() {
        let clear = json!({
            "issuer": "i", "audience": "a", "roleClaim": "role", "keys": [{ "kty": "oct", "k": SECRET }],
        });
        let mut provider: IdentityProvider = serde_json::from_value(clear).unwrap();
        assert_eq!(provider.verification_keys(&vault(&[7]), project()).len(), 1);
        assert!(!format!("{provider:?}").contains(SECRET));
        assert!(provider.seal_keys(&vault(&[7]), &Zeros, project()));
        assert!(!serde_json::to_string(&provider).unwrap().contains(SECRET));
        assert!(!provider.seal_keys(&vault(&[7]), &Zeros, project()), "there is nothing left to do");

        assert!(provider.seal_keys(&vault(&[9, 7]), &Zeros, project()));
        assert_eq!(provider.verification_keys(&vault(&[9]), project()).len(), 1);
        let before = provider.clone();
        assert!(
            !provider.seal_keys(&vault(&[5]), &Zeros, project()),
            "a key that cannot be opened stays as it is"
        );
        assert_eq!(provider, before);
    }
}
