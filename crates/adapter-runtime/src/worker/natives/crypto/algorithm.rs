//! Names of algorithms, digests, curves and uses, and the parameters that code gives.

use serde::Deserialize;
use sha2::Digest as _;

use super::{CryptoError, Result};

/// An algorithm that keys are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    AesGcm,
    Ecdsa,
    Ed25519,
    Hkdf,
    Hmac,
    Pbkdf2,
    RsaPkcs1,
    RsaPss,
}

impl Name {
    const ALL: [Self; 8] = [
        Self::AesGcm,
        Self::Ecdsa,
        Self::Ed25519,
        Self::Hkdf,
        Self::Hmac,
        Self::Pbkdf2,
        Self::RsaPkcs1,
        Self::RsaPss,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::AesGcm => "AES-GCM",
            Self::Ecdsa => "ECDSA",
            Self::Ed25519 => "Ed25519",
            Self::Hkdf => "HKDF",
            Self::Hmac => "HMAC",
            Self::Pbkdf2 => "PBKDF2",
            Self::RsaPkcs1 => "RSASSA-PKCS1-v1_5",
            Self::RsaPss => "RSA-PSS",
        }
    }
}

/// A digest (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    const ALL: [Self; 4] = [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];

    pub(super) fn parse(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|hash| hash.as_str().eq_ignore_ascii_case(name))
            .ok_or_else(|| CryptoError::not_supported(format!("the digest {name:.40} is not supported")))
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        }
    }

    /// The digits of its name, as JSON Web Algorithms have them (RFC 7518).
    pub(super) fn digits(self) -> &'static str {
        &self.as_str()[4..]
    }

    /// Bytes of a digest.
    pub(super) fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// Bytes of a block, which is the length of a generated HMAC key.
    pub(super) fn block_length(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 => 128,
        }
    }

    pub(super) fn digest(self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => sha1::Sha1::digest(data).to_vec(),
            Self::Sha256 => sha2::Sha256::digest(data).to_vec(),
            Self::Sha384 => sha2::Sha384::digest(data).to_vec(),
            Self::Sha512 => sha2::Sha512::digest(data).to_vec(),
        }
    }
}

/// A curve of ECDSA (FIPS 186-5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
}

impl Curve {
    pub(super) fn parse(name: &str) -> Result<Self> {
        match name {
            "P-256" => Ok(Self::P256),
            "P-384" => Ok(Self::P384),
            _ => Err(CryptoError::not_supported(format!(
                "the curve {name:.40} is not supported; P-256 and P-384 are"
            ))),
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
        }
    }

    /// Bytes of a coordinate.
    pub(super) fn field_length(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
        }
    }
}

/// A use of a key, in the order in which keys list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Encrypt,
    Decrypt,
    Sign,
    Verify,
    DeriveKey,
    DeriveBits,
    WrapKey,
    UnwrapKey,
}

impl Usage {
    const ALL: [Self; 8] = [
        Self::Encrypt,
        Self::Decrypt,
        Self::Sign,
        Self::Verify,
        Self::DeriveKey,
        Self::DeriveBits,
        Self::WrapKey,
        Self::UnwrapKey,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::DeriveKey => "deriveKey",
            Self::DeriveBits => "deriveBits",
            Self::WrapKey => "wrapKey",
            Self::UnwrapKey => "unwrapKey",
        }
    }

    /// Returns the uses, each once.
    pub(super) fn parse_all(names: &[String]) -> Result<Vec<Self>> {
        if let Some(unknown) =
            names.iter().find(|name| !Self::ALL.iter().any(|usage| usage.as_str() == *name))
        {
            return Err(CryptoError::syntax(format!("{unknown:.40} is not a usage of a key")));
        }
        Ok(Self::ALL.into_iter().filter(|usage| names.iter().any(|name| name == usage.as_str())).collect())
    }
}

/// The parameters of an operation, save for those that are bytes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Parameters {
    name: String,
    hash: Option<String>,
    named_curve: Option<String>,
    pub(super) length: Option<u64>,
    pub(super) modulus_length: Option<u64>,
    pub(super) salt_length: Option<u64>,
    pub(super) tag_length: Option<u64>,
    pub(super) iterations: Option<u64>,
}

impl Parameters {
    pub(super) fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|_| CryptoError::operation("the parameters are not complete"))
    }

    pub(super) fn name(&self) -> Result<Name> {
        Name::ALL
            .into_iter()
            .find(|name| name.as_str().eq_ignore_ascii_case(&self.name))
            .ok_or_else(|| CryptoError::not_supported(format!("{:.40} is not supported", self.name)))
    }

    pub(super) fn hash(&self) -> Result<Hash> {
        Hash::parse(self.hash.as_deref().unwrap_or_default())
    }

    pub(super) fn curve(&self) -> Result<Curve> {
        Curve::parse(self.named_curve.as_deref().unwrap_or_default())
    }
}
