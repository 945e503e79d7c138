//! A key, as the runtime keeps it.

use ed25519_dalek as ed25519;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{
    CryptoError, Result,
    algorithm::{Hash, Name, Usage},
    ec::{EcPrivate, EcPublic},
    rsa::{RsaPrivate, RsaPublic},
};

/// Bytes of a secret key, at most.
const MAX_SECRET: usize = 16 << 10;

/// A key with its kind and its uses. Nothing of it ever changes.
pub(super) struct Key {
    pub(super) name: Name,
    /// The digest that the key is for, if it is for one.
    pub(super) hash: Option<Hash>,
    pub(super) extractable: bool,
    pub(super) usages: Vec<Usage>,
    pub(super) material: Material,
}

pub(super) enum Material {
    Secret(Zeroizing<Vec<u8>>),
    EcPrivate(EcPrivate),
    EcPublic(EcPublic),
    EdPrivate(ed25519::SigningKey),
    EdPublic(ed25519::VerifyingKey),
    RsaPrivate(Box<RsaPrivate>),
    RsaPublic(RsaPublic),
}

/// Secret, private or public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyType {
    Secret,
    Private,
    Public,
}

impl Material {
    /// Bytes of a secret; an error if they are too many.
    pub(super) fn secret(bytes: Vec<u8>) -> Result<Self> {
        let bytes = Zeroizing::new(bytes);
        if bytes.len() > MAX_SECRET {
            return Err(CryptoError::data(format!("a secret key has at most {MAX_SECRET} bytes")));
        }
        Ok(Self::Secret(bytes))
    }

    pub(super) fn key_type(&self) -> KeyType {
        match self {
            Self::Secret(_) => KeyType::Secret,
            Self::EcPrivate(_) | Self::EdPrivate(_) | Self::RsaPrivate(_) => KeyType::Private,
            Self::EcPublic(_) | Self::EdPublic(_) | Self::RsaPublic(_) => KeyType::Public,
        }
    }
}

/// Checks that keys of an algorithm and a type may be used so.
pub(super) fn check_usages(name: Name, key_type: KeyType, usages: &[Usage]) -> Result<()> {
    let allowed: &[Usage] = match (name, key_type) {
        (Name::AesGcm, _) => &[Usage::Encrypt, Usage::Decrypt, Usage::WrapKey, Usage::UnwrapKey],
        (Name::Hkdf | Name::Pbkdf2, _) => &[Usage::DeriveKey, Usage::DeriveBits],
        (Name::Hmac, _) => &[Usage::Sign, Usage::Verify],
        (_, KeyType::Public) => &[Usage::Verify],
        (_, KeyType::Private | KeyType::Secret) => &[Usage::Sign],
    };
    if let Some(usage) = usages.iter().find(|usage| !allowed.contains(usage)) {
        let key_type = match key_type {
            KeyType::Secret => "",
            KeyType::Private => "private ",
            KeyType::Public => "public ",
        };
        let (name, usage) = (name.as_str(), usage.as_str());
        return Err(CryptoError::syntax(format!("a {key_type}key for {name} cannot {usage}")));
    }
    if usages.is_empty() && key_type != KeyType::Public {
        return Err(CryptoError::syntax("a secret or private key needs a usage"));
    }
    Ok(())
}

impl Key {
    /// Returns what code may see of the key.
    pub(super) fn describe(&self) -> Value {
        let mut algorithm = json!({ "name": self.name.as_str() });
        if let Some(hash) = self.hash {
            algorithm["hash"] = json!({ "name": hash.as_str() });
        }
        match &self.material {
            Material::Secret(bytes) if matches!(self.name, Name::AesGcm | Name::Hmac) => {
                algorithm["length"] = json!(bytes.len() * 8);
            }
            Material::Secret(_) | Material::EdPrivate(_) | Material::EdPublic(_) => {}
            Material::EcPrivate(key) => algorithm["namedCurve"] = json!(key.curve().as_str()),
            Material::EcPublic(key) => algorithm["namedCurve"] = json!(key.curve().as_str()),
            Material::RsaPrivate(key) => key.public.describe(&mut algorithm),
            Material::RsaPublic(key) => key.describe(&mut algorithm),
        }
        let key_type = match self.material.key_type() {
            KeyType::Secret => "secret",
            KeyType::Private => "private",
            KeyType::Public => "public",
        };
        let usages: Vec<_> = self.usages.iter().map(|usage| usage.as_str()).collect();
        json!({ "type": key_type, "extractable": self.extractable, "algorithm": algorithm, "usages": usages })
    }
}
