//! `sign` and `verify`.

use ed25519_dalek::{self as ed25519, Signer as _};

use super::{
    CryptoError, Result,
    algorithm::{Hash, Name, Parameters},
    hmac,
    key::{Key, Material},
};

pub(super) fn sign(parameters: &Parameters, key: &Key, data: &[u8]) -> Result<Vec<u8>> {
    match &key.material {
        Material::Secret(bytes) => Ok(hmac::sign(hash_of(key)?, bytes, data)),
        Material::EcPrivate(private) => private
            .sign(parameters.hash()?, data)
            .ok_or_else(|| CryptoError::operation("the data could not be signed")),
        Material::EdPrivate(private) => Ok(private.sign(data).to_bytes().to_vec()),
        Material::RsaPrivate(private) => {
            let hash = hash_of(key)?;
            check_salt(parameters, key, hash)?;
            private.sign(key.name, hash, data)
        }
        Material::EcPublic(_) | Material::EdPublic(_) | Material::RsaPublic(_) => {
            Err(CryptoError::invalid_access("a public key cannot sign"))
        }
    }
}

/// Returns whether a signature is valid. One of the wrong length is not.
pub(super) fn verify(parameters: &Parameters, key: &Key, signature: &[u8], data: &[u8]) -> Result<bool> {
    match &key.material {
        Material::Secret(bytes) => Ok(hmac::verify(hash_of(key)?, bytes, signature, data)),
        Material::EcPublic(public) => Ok(public.verify(parameters.hash()?, data, signature)),
        // Strict: points of small order are refused, as the Web Cryptography API demands.
        Material::EdPublic(public) => Ok(ed25519::Signature::from_slice(signature)
            .is_ok_and(|signature| public.verify_strict(data, &signature).is_ok())),
        Material::RsaPublic(public) => {
            let hash = hash_of(key)?;
            check_salt(parameters, key, hash)?;
            public.verify(key.name, hash, data, signature)
        }
        Material::EcPrivate(_) | Material::EdPrivate(_) | Material::RsaPrivate(_) => {
            Err(CryptoError::invalid_access("a private key cannot verify"))
        }
    }
}

fn hash_of(key: &Key) -> Result<Hash> {
    key.hash.ok_or_else(|| CryptoError::invalid_access("the key is for no digest"))
}

/// ring knows salts of one length only.
fn check_salt(parameters: &Parameters, key: &Key, hash: Hash) -> Result<()> {
    if key.name == Name::RsaPss && parameters.salt_length != Some(hash.length() as u64) {
        return Err(CryptoError::not_supported(format!(
            "the saltLength of RSA-PSS with {} must be {}",
            hash.as_str(),
            hash.length()
        )));
    }
    Ok(())
}
