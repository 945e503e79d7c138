//! The issuer whose tokens a project trusts, and its keys (JSON Web Keys, RFC 7517).
//!
//! Public keys are stored as they are. A symmetric key is a secret, since anyone who has it can sign tokens: it is
//! sealed when it is set, and never shown again.

mod claim_paths;
mod key_set;
mod provider_input;

use std::collections::BTreeMap;

use base64::Engine as _;
use kernel::{Randomness, id::ProjectId, vault::Vault};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::verification_key::{Algorithm, KeyMaterial, VerificationKey};

pub use claim_paths::find_claim;
pub use key_set::{IgnoredKey, IgnoredKeyReason, JsonWebKey, KeySetEntry};
pub use provider_input::NewIdentityProvider;

use key_set::{BASE64URL, significant};

/// The stored issuer of a project's person tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityProvider {
    /// Required value of the `iss` claim.
    pub issuer: String,
    /// Value that the `aud` claim must contain.
    pub audience: String,
    /// Name or path of the claim that has the person's roles.
    pub role_claim: String,
    /// Names or paths of claims, by the names under which rules find them; at most 32.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, String>,
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
        let bytes = |text: &Option<String>| BASE64URL.decode(text.as_deref()?).ok();
        let algorithm =
            key_algorithm(&self.kty, self.crv.as_deref(), self.alg.as_deref(), self.usage.as_deref())?;
        let material = match algorithm {
            Algorithm::Rs256 => KeyMaterial::Rsa {
                n: significant(&bytes(&self.n)?).to_vec(),
                e: significant(&bytes(&self.e)?).to_vec(),
            },
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
                KeyMaterial::Hmac(BASE64URL.decode(text.expose_secret()).ok()?.into())
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
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
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

    type Accepted = (IdentityProvider, Vec<IgnoredKey>);

    fn accept_set(keys: &[Value], before: Option<&IdentityProvider>) -> Result<Accepted, InvalidInput> {
        let input = json!({ "issuer": "https://id.example", "audience": "shop", "keys": keys });
        let input: NewIdentityProvider = serde_json::from_value(input).unwrap();
        input.validate_and_seal(before, &vault(&[7]), &Zeros, project())
    }

    fn accept(keys: &[Value], before: Option<&IdentityProvider>) -> Result<IdentityProvider, InvalidInput> {
        accept_set(keys, before).map(|(provider, _)| provider)
    }

    fn rsa(kid: &str, byte: u8) -> Value {
        json!({ "kty": "RSA", "kid": kid, "n": URL_SAFE_NO_PAD.encode([byte; 256]), "e": "AQAB" })
    }

    fn with(mut key: Value, members: &Value) -> Value {
        for (name, value) in members.as_object().unwrap() {
            key[name] = value.clone();
        }
        key
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
    fn keys_that_cannot_verify_tokens_are_left_out_with_their_reason() {
        let signing = with(
            rsa("sig", 1),
            &json!({ "use": "sig", "alg": "RS256", "x5c": ["MIIC"], "x5t": "AA", "more": 1 }),
        );
        let point = json!({ "kty": "EC", "crv": "P-384", "kid": "p384", "x": "AA", "y": "AA" });
        let left_out = [
            (
                with(rsa("enc", 2), &json!({ "use": "enc", "alg": "RSA-OAEP" })),
                Some("enc"),
                IgnoredKeyReason::OtherUse,
            ),
            (
                with(rsa("wrap", 2), &json!({ "key_ops": ["wrapKey"] })),
                Some("wrap"),
                IgnoredKeyReason::OtherUse,
            ),
            (with(rsa("rs512", 2), &json!({ "alg": "RS512" })), Some("rs512"), IgnoredKeyReason::Unsupported),
            (point, Some("p384"), IgnoredKeyReason::Unsupported),
            (json!({ "kty": "AKP", "kid": "new", "pub": "AA" }), Some("new"), IgnoredKeyReason::Unsupported),
            (
                json!({ "kty": "RSA", "kid": "short", "n": "AQAB", "e": "AQAB" }),
                Some("short"),
                IgnoredKeyReason::Malformed,
            ),
            (json!({ "kty": "RSA" }), None, IgnoredKeyReason::Malformed),
            (json!({ "kid": "untyped" }), Some("untyped"), IgnoredKeyReason::Malformed),
            (with(rsa("number", 2), &json!({ "e": 65537 })), Some("number"), IgnoredKeyReason::Malformed),
            (with(rsa("x", 2), &json!({ "kid": 7 })), None, IgnoredKeyReason::Malformed),
            (json!("a text"), None, IgnoredKeyReason::Malformed),
            (json!(["RSA", "array"]), None, IgnoredKeyReason::Malformed),
            (Value::Null, None, IgnoredKeyReason::Malformed),
            (signing.clone(), Some("sig"), IgnoredKeyReason::Duplicate),
            (json!({ "kty": "oct", "kid": "none" }), Some("none"), IgnoredKeyReason::SecretMissing),
            (
                json!({ "kty": "oct", "kid": "weak", "k": "c2hvcnQ" }),
                Some("weak"),
                IgnoredKeyReason::Malformed,
            ),
        ];
        let set: Vec<Value> =
            std::iter::once(signing).chain(left_out.iter().map(|(key, ..)| key.clone())).collect();
        let (provider, ignored) = accept_set(&set, None).unwrap();
        let kids: Vec<_> = provider.keys.iter().map(|key| key.kid.as_deref()).collect();
        assert_eq!(kids, [Some("sig")]);
        assert_eq!(provider.verification_keys(&vault(&[7]), project()).len(), 1);
        let expected = left_out
            .iter()
            .map(|(_, kid, reason)| IgnoredKey { kid: kid.map(str::to_owned), reason: *reason });
        assert_eq!(ignored, expected.collect::<Vec<_>>());
        // Without the one that is usable, nothing is left.
        assert!(accept_set(&set[1..14], None).is_err());
        // A private key may have been published: that is not passed over.
        let private = with(rsa("private", 3), &json!({ "d": "AQAB" }));
        let refused = accept_set(&[rsa("sig", 1), private], None).unwrap_err();
        assert_eq!(refused, crate::InvalidVerificationKey::PrivatePart.into());
    }

    #[test]
    fn the_limit_counts_usable_keys_and_names_them() {
        let many: Vec<Value> = (0..8_u8).map(|number| rsa(&format!("k{number}"), number + 1)).collect();
        let others = (0..50).map(|_| with(rsa("enc", 99), &json!({ "use": "enc" })));
        let set: Vec<Value> = many.iter().cloned().chain(others).collect();
        let (provider, ignored) = accept_set(&set, None).unwrap();
        assert_eq!((provider.keys.len(), ignored.len()), (8, 50));
        let mut set = many;
        set.push(with(rsa("x", 77), &json!({ "kid": null })));
        let kids = (0..8).map(|number| Some(format!("k{number}"))).chain([None]).collect();
        assert_eq!(accept_set(&set, None).unwrap_err(), InvalidInput::TooManyVerificationKeys(kids));
        let endless = vec![rsa("a", 1); 101];
        assert_eq!(accept_set(&endless, None).unwrap_err(), InvalidInput::VerificationKeyCount);
    }

    #[test]
    fn padding_and_leading_zeros_of_issuers_are_read() {
        let mut modulus = vec![0];
        modulus.extend([7; 256]);
        let padded = base64::engine::general_purpose::URL_SAFE.encode(&modulus);
        let key = json!({ "kty": "RSA", "n": padded, "e": "AAEAAQ" });
        let provider = accept(&[key], None).unwrap();
        let keys = provider.verification_keys(&vault(&[7]), project());
        assert!(matches!(&keys[0].material, KeyMaterial::Rsa { n, e } if n.len() == 256 && *e == [1, 0, 1]));
    }

    #[test]
    fn claims_have_names_of_rules_and_paths() {
        let accept = |claims: Value| {
            let input = json!({ "issuer": "i", "audience": "a", "claims": claims, "keys": [rsa("a", 1)] });
            let input: NewIdentityProvider = serde_json::from_value(input).unwrap();
            input.validate_and_seal(None, &vault(&[7]), &Zeros, project())
        };
        let (provider, _) =
            accept(json!({ "org": "https://corp.example/org", "team": "app_metadata.team" })).unwrap();
        assert_eq!(provider.claims["team"], "app_metadata.team");
        let many: BTreeMap<String, String> =
            (0..33).map(|number| (format!("c{number}"), "a".to_owned())).collect();
        for (claims, refused) in [
            (json!({ "Org": "a" }), InvalidInput::ClaimName),
            (json!({ "": "a" }), InvalidInput::ClaimName),
            (json!({ "1a": "a" }), InvalidInput::ClaimName),
            (json!({ "user-id": "a" }), InvalidInput::ClaimName),
            (json!({ "a".repeat(33): "a" }), InvalidInput::ClaimName),
            (json!({ "org": "" }), InvalidInput::ClaimPath),
            (json!({ "org": "a\nb" }), InvalidInput::ClaimPath),
            (json!({ "org": "a".repeat(201) }), InvalidInput::ClaimPath),
            (json!(many), InvalidInput::ClaimCount),
        ] {
            assert_eq!(accept(claims.clone()).unwrap_err(), refused, "{claims}");
        }
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
