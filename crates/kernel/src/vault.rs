//! Secrets sealed at rest, for those that must be read again (a webhook's signing secret, a connection's credential). Of
//! all other secrets only a digest is stored, see [`crate::token`].
//!
//! A sealed secret has the form `qs1.<key id>.<wrapped data key>.<nonce>.<ciphertext>`: a new data key for each secret,
//! wrapped by the master key, with XChaCha20-Poly1305 in both layers. The context of the secret (its row and purpose) is
//! bound to it as associated data, so that ciphertext that was moved to another row does not open.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, AeadInOut as _, Payload},
};
use hmac::{Hmac, Mac as _};
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use sha2::{Digest as _, Sha256};

use crate::Randomness;

/// The operator's keys, newest first; at least one. Older keys only open secrets that they sealed earlier.
pub struct MasterKeys(Vec<SecretBox<[u8; 32]>>);

/// An invalid list of master keys.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MasterKeyError {
    /// The list is empty.
    #[error("at least one master key is required")]
    Missing,
    /// The key at this position, from 1, is not 32 bytes in base64.
    #[error("master key {0} is not 32 bytes in base64")]
    Malformed(usize),
}

impl MasterKeys {
    /// Creates the list from keys as bytes, newest first.
    ///
    /// # Errors
    /// [`MasterKeyError::Missing`] when the list is empty.
    pub fn new(keys: Vec<[u8; 32]>) -> Result<Self, MasterKeyError> {
        if keys.is_empty() {
            return Err(MasterKeyError::Missing);
        }
        Ok(Self(keys.into_iter().map(|key| SecretBox::new(Box::new(key))).collect()))
    }

    /// Parses keys in base64, separated by commas or white space, newest first.
    ///
    /// # Errors
    /// [`MasterKeyError`] when there is none or one is malformed. The error has the position, never the key.
    pub fn parse(text: &str) -> Result<Self, MasterKeyError> {
        let standard = base64::engine::general_purpose::STANDARD;
        let keys = text
            .split([',', ' ', '\n', '\t', '\r'])
            .filter(|part| !part.is_empty())
            .enumerate()
            .map(|(index, part)| {
                let bytes = standard.decode(part).or_else(|_| BASE64.decode(part));
                bytes.ok().and_then(|bytes| bytes.try_into().ok()).ok_or(MasterKeyError::Malformed(index + 1))
            })
            .collect::<Result<Vec<[u8; 32]>, _>>()?;
        Self::new(keys)
    }

    /// Derives a key for `purpose` from each master key, with the id of the master key.
    pub fn derive_keys(&self, purpose: &str) -> impl Iterator<Item = ([u8; 4], [u8; 32])> {
        self.0.iter().map(move |key| {
            let id = Sha256::new_with_prefix(b"qala key id\0").chain_update(key.expose_secret()).finalize();
            (std::array::from_fn(|at| id[at]), derive_key(key.expose_secret(), purpose))
        })
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn derive_key(key: &[u8; 32], purpose: &str) -> [u8; 32] {
    let mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.chain_update(b"qala/v1/").chain_update(purpose.as_bytes()).finalize().into_bytes().into()
}

/// Seals and opens secrets.
pub struct Vault(Vec<(String, XChaCha20Poly1305)>);

/// The reason why a sealed secret does not open.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum VaultError {
    /// The text is not a sealed secret.
    #[error("the sealed secret is malformed")]
    Malformed,
    /// It was sealed with a master key of this id, which is not configured.
    #[error("the sealed secret needs the master key {0}, which is not configured")]
    UnknownKey(String),
    /// It was changed, or sealed for another context.
    #[error("the sealed secret was changed or belongs to another context")]
    Forged,
}

const NONCE_LEN: usize = 24;

impl Vault {
    /// Creates a vault that seals with the newest master key and opens with all.
    #[must_use]
    pub fn new(keys: &MasterKeys) -> Self {
        let ciphers =
            keys.derive_keys("vault").map(|(id, key)| (hex(id), XChaCha20Poly1305::new(&key.into())));
        Self(ciphers.collect())
    }

    /// Seals `secret` for `context`, the parts of which name what the secret belongs to, such as the workspace, the object
    /// and the purpose.
    #[must_use]
    pub fn seal(&self, random: &dyn Randomness, context: &[&str], secret: &SecretString) -> String {
        // `MasterKeys` has at least one key, and encryption of a short text cannot fail.
        self.try_seal(random, context, secret).unwrap_or_default()
    }

    fn try_seal(&self, random: &dyn Randomness, context: &[&str], secret: &SecretString) -> Option<String> {
        let (id, wrapping) = self.0.first()?;
        let aad = associated_data(context);
        let mut data_key = [0_u8; 32];
        let mut nonces = [[0_u8; NONCE_LEN]; 2];
        random.fill(&mut data_key);
        random.fill(nonces.as_flattened_mut());
        let [key_nonce, nonce] = nonces;
        let wrapped =
            wrapping.encrypt(&XNonce::from(key_nonce), Payload { msg: &data_key, aad: &aad }).ok()?;
        let ciphertext = XChaCha20Poly1305::new(&data_key.into())
            .encrypt(&XNonce::from(nonce), Payload { msg: secret.expose_secret().as_bytes(), aad: &aad })
            .ok()?;
        let wrapped = BASE64.encode([key_nonce.as_slice(), &wrapped].concat());
        Some(format!("qs1.{id}.{wrapped}.{}.{}", BASE64.encode(nonce), BASE64.encode(ciphertext)))
    }

    /// Returns true if a master key has this id.
    #[must_use]
    pub fn has_key(&self, id: &str) -> bool {
        self.0.iter().any(|(known, _)| known == id)
    }

    /// Returns true if `sealed` was sealed with the newest master key.
    #[must_use]
    pub fn uses_newest_key(&self, sealed: &str) -> bool {
        self.0.first().is_some_and(|(newest, _)| key_id(sealed) == Some(newest))
    }

    /// Opens a secret that was sealed for the same `context`.
    ///
    /// # Errors
    /// [`VaultError`] when the text is malformed, sealed with an unknown key, changed, or sealed for another context.
    pub fn open(&self, context: &[&str], sealed: &str) -> Result<SecretString, VaultError> {
        let mut parts = sealed.split('.');
        let mut part = || parts.next().ok_or(VaultError::Malformed);
        if part()? != "qs1" {
            return Err(VaultError::Malformed);
        }
        let id = part()?;
        let mut bytes = || BASE64.decode(part()?).map_err(|_| VaultError::Malformed);
        let (wrapped, nonce, ciphertext) = (bytes()?, bytes()?, bytes()?);
        let (_, wrapping) = self
            .0
            .iter()
            .find(|(known, _)| known == id)
            .ok_or_else(|| VaultError::UnknownKey(id.to_owned()))?;

        let aad = associated_data(context);
        let (key_nonce, wrapped) = wrapped.split_first_chunk::<NONCE_LEN>().ok_or(VaultError::Malformed)?;
        let nonce: [u8; NONCE_LEN] = nonce.try_into().map_err(|_| VaultError::Malformed)?;
        let mut data_key = wrapped.to_vec();
        wrapping
            .decrypt_in_place(&XNonce::from(*key_nonce), &aad, &mut data_key)
            .map_err(|_| VaultError::Forged)?;
        let mut plain = ciphertext;
        XChaCha20Poly1305::new_from_slice(&data_key)
            .map_err(|_| VaultError::Forged)?
            .decrypt_in_place(&XNonce::from(nonce), &aad, &mut plain)
            .map_err(|_| VaultError::Forged)?;
        String::from_utf8(plain).map(SecretString::from).map_err(|_| VaultError::Forged)
    }
}

/// Returns the id of the master key with which a secret was sealed.
#[must_use]
pub fn key_id(sealed: &str) -> Option<&str> {
    sealed.strip_prefix("qs1.")?.split('.').next()
}

/// Encodes the parts, each after its length, so that different lists have different encodings.
fn associated_data(context: &[&str]) -> Vec<u8> {
    let mut data = Vec::with_capacity(context.iter().map(|part| part.len() + 8).sum());
    for part in context {
        data.extend_from_slice(&(part.len() as u64).to_le_bytes());
        data.extend_from_slice(part.as_bytes());
    }
    data
}

fn hex(bytes: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(bytes))
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(id, _)| id)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandomness;

    fn vault(keys: &[u8]) -> Vault {
        Vault::new(&MasterKeys::new(keys.iter().map(|byte| [*byte; 32]).collect()).unwrap())
    }

    #[test]
    fn only_the_same_context_and_a_known_key_open_a_secret() {
        let random = SeededRandomness::new(5);
        let sealed = vault(&[1]).seal(&random, &["ws", "hook"], &SecretString::from("hush"));
        assert_eq!(vault(&[2, 1]).open(&["ws", "hook"], &sealed).unwrap().expose_secret(), "hush");
        assert_eq!(vault(&[1]).open(&["wsh", "ook"], &sealed).unwrap_err(), VaultError::Forged);
        assert!(matches!(vault(&[2]).open(&["ws", "hook"], &sealed), Err(VaultError::UnknownKey(_))));
    }

    #[test]
    fn a_changed_or_malformed_text_does_not_open() {
        let random = SeededRandomness::new(6);
        let sealed = vault(&[1]).seal(&random, &["ws"], &SecretString::from("hush"));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(
                vault(&[1]).open(&["ws"], std::str::from_utf8(&changed).unwrap()).is_err(),
                "changed at {at}"
            );
        }
        for text in ["", "qs1", "qs1.a.b.c.d", "qs2.0.0.0.0"] {
            assert!(vault(&[1]).open(&["ws"], text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_invalid_master_key_is_named_by_its_position() {
        assert_eq!(MasterKeys::parse(" ").err(), Some(MasterKeyError::Missing));
        let good = base64::engine::general_purpose::STANDARD.encode([7_u8; 32]);
        assert!(MasterKeys::parse(&format!("{good},\n{good}")).is_ok());
        assert_eq!(MasterKeys::parse(&format!("{good},short")).err(), Some(MasterKeyError::Malformed(2)));
    }
}
