//! An identity provider as a caller sends it: its bounds, and the sealing of its symmetric keys.

use std::collections::BTreeMap;

use kernel::{Randomness, id::ProjectId, vault::Vault};
use serde::Deserialize;

use super::{
    IdentityProvider, SigningKey, encryption_context,
    key_set::{IgnoredKey, IgnoredKeyReason, JsonWebKey, KeySetEntry, shortened},
};
use crate::{InvalidInput, InvalidVerificationKey, verification_key::Algorithm};

/// Most keys that verify tokens.
const MAX_KEYS: usize = 8;
/// Most keys of a set, with those that are left out.
const MAX_SET_KEYS: usize = 100;
/// Most names of claims.
const MAX_CLAIMS: usize = 32;
/// Longest name of a claim in rules, in bytes.
const MAX_CLAIM_NAME: usize = 32;
/// Longest issuer, audience or path of a claim, in characters.
const MAX_TEXT_CHARS: usize = 200;

/// The issuer of the tokens that identify a project's signed-in people.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewIdentityProvider {
    /// Required value of the `iss` claim.
    pub issuer: String,
    /// Value that the `aud` claim must contain.
    pub audience: String,
    /// Claim that has the person's roles, one text or an array of texts: its name, or a path such as `a.b`.
    #[serde(default = "default_role_claim")]
    pub role_claim: String,
    /// Names under which rules find claims, and the names or paths of these claims in tokens.
    #[serde(default)]
    pub claims: BTreeMap<String, String>,
    /// JSON Web Keys (RFC 7517) of the issuer, of which those that verify tokens are kept.
    pub keys: Vec<KeySetEntry>,
}

fn default_role_claim() -> String {
    "role".to_owned()
}

impl NewIdentityProvider {
    /// Checks the bounds and seals the symmetric keys for `project`. A symmetric key without `k` keeps the bytes that
    /// `before` has under its `kid`. Keys that cannot verify tokens are left out and returned.
    ///
    /// # Errors
    /// [`InvalidInput`] for the first field that is out of bounds, for a set without a key that can verify tokens, and for
    /// a key with a private part.
    pub fn validate_and_seal(
        self,
        before: Option<&IdentityProvider>,
        vault: &Vault,
        random: &dyn Randomness,
        project: ProjectId,
    ) -> Result<(IdentityProvider, Vec<IgnoredKey>), InvalidInput> {
        for (refusal, text) in [
            (InvalidInput::Issuer, &self.issuer),
            (InvalidInput::Audience, &self.audience),
            (InvalidInput::RoleClaim, &self.role_claim),
        ] {
            if !is_printable_text(text) {
                return Err(refusal);
            }
        }
        validate_claims(&self.claims)?;
        if self.keys.is_empty() || self.keys.len() > MAX_SET_KEYS {
            return Err(InvalidInput::VerificationKeyCount);
        }
        let (usable, ignored) = usable_keys(self.keys, before)?;
        let project = project.to_string();
        let mut keys = Vec::with_capacity(usable.len());
        for (key, algorithm) in usable {
            let sealed = match (algorithm, &key.k) {
                (Algorithm::Hs256, Some(secret)) => {
                    Some(vault.seal(random, &encryption_context(&project), secret))
                }
                (Algorithm::Hs256, None) => {
                    let kept = kept_secret(before, key.kid.as_deref());
                    let kept = kept.ok_or(InvalidVerificationKey::SecretMissing)?;
                    keys.push(SigningKey { alg: key.alg, usage: key.usage, ..kept.clone() });
                    continue;
                }
                _ => None,
            };
            let JsonWebKey { kty, kid, alg, usage, crv, n, e, x, y, .. } = key;
            keys.push(SigningKey { kty, kid, alg, usage, crv, n, e, x, y, sealed, k: None });
        }
        let Self { issuer, audience, role_claim, claims, .. } = self;
        Ok((IdentityProvider { issuer, audience, role_claim, claims, keys }, ignored))
    }
}

fn is_printable_text(text: &str) -> bool {
    (1..=MAX_TEXT_CHARS).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// Checks the names that rules give to claims, and their paths.
fn validate_claims(claims: &BTreeMap<String, String>) -> Result<(), InvalidInput> {
    if claims.len() > MAX_CLAIMS {
        return Err(InvalidInput::ClaimCount);
    }
    let is_name = |name: &str| {
        let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        name.len() <= MAX_CLAIM_NAME
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(rest)
    };
    if !claims.keys().all(|name| is_name(name)) {
        return Err(InvalidInput::ClaimName);
    }
    if claims.values().all(|path| is_printable_text(path)) { Ok(()) } else { Err(InvalidInput::ClaimPath) }
}

/// A key that can verify tokens, and its algorithm.
type UsableKey = (JsonWebKey, Algorithm);

/// Returns the keys that can verify tokens with their algorithms, and the others.
fn usable_keys(
    set: Vec<KeySetEntry>,
    before: Option<&IdentityProvider>,
) -> Result<(Vec<UsableKey>, Vec<IgnoredKey>), InvalidInput> {
    let mut usable: Vec<(JsonWebKey, Algorithm)> = Vec::new();
    let (mut ignored, mut first_refusal) = (Vec::new(), None);
    for entry in set {
        let (key, refusal) = match entry {
            KeySetEntry::Malformed { kid } => (kid, InvalidVerificationKey::NotAKey),
            KeySetEntry::Key(key) => match validate_key(&key, before) {
                Ok(_) if usable.iter().any(|(known, _)| known.is_same(&key)) => {
                    ignored.push(IgnoredKey::new(key.kid.as_deref(), IgnoredKeyReason::Duplicate));
                    continue;
                }
                Ok(algorithm) => {
                    usable.push((*key, algorithm));
                    continue;
                }
                Err(refusal) => (key.kid, refusal),
            },
        };
        let reason = refusal.as_ignored().ok_or(InvalidInput::VerificationKey(refusal))?;
        ignored.push(IgnoredKey::new(key.as_deref(), reason));
        first_refusal.get_or_insert(refusal);
    }
    match first_refusal {
        Some(refusal) if usable.is_empty() => Err(refusal.into()),
        _ if usable.len() > MAX_KEYS => {
            let id = |(key, _): &(JsonWebKey, Algorithm)| key.kid.as_deref().map(shortened);
            Err(InvalidInput::TooManyVerificationKeys(usable.iter().map(id).collect()))
        }
        _ => Ok((usable, ignored)),
    }
}

fn validate_key(
    key: &JsonWebKey,
    before: Option<&IdentityProvider>,
) -> Result<Algorithm, InvalidVerificationKey> {
    let algorithm = key.validate()?;
    if algorithm == Algorithm::Hs256 && key.k.is_none() {
        kept_secret(before, key.kid.as_deref()).ok_or(InvalidVerificationKey::SecretMissing)?;
    }
    Ok(algorithm)
}

/// Returns the one symmetric key with this id.
fn kept_secret<'a>(before: Option<&'a IdentityProvider>, kid: Option<&str>) -> Option<&'a SigningKey> {
    let mut kept = before.into_iter().flat_map(|before| &before.keys);
    let mut kept = kept.by_ref().filter(|kept| kept.is_symmetric() && kept.kid.as_deref() == kid);
    let first = kept.next()?;
    kept.next().is_none().then_some(first)
}
