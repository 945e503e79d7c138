//! Keys of ECDSA (FIPS 186-5) on P-256 and P-384.

use p256::{
    ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _},
    pkcs8::{DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _},
};
use zeroize::Zeroizing;

use super::{
    CryptoError, Result,
    algorithm::{Curve, Hash},
};

pub(super) enum EcPrivate {
    P256(p256::SecretKey),
    P384(p384::SecretKey),
}

#[derive(PartialEq)]
pub(super) enum EcPublic {
    P256(p256::PublicKey),
    P384(p384::PublicKey),
}

fn bad_key<E>(_: E) -> CryptoError {
    CryptoError::data("the key is not one of this curve")
}

impl EcPrivate {
    pub(super) fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
        }
    }

    /// Reads a private number, which is not zero and less than the order of the curve.
    pub(super) fn from_scalar(curve: Curve, bytes: &[u8]) -> Result<Self> {
        Ok(match curve {
            Curve::P256 => Self::P256(p256::SecretKey::from_slice(bytes).map_err(bad_key)?),
            Curve::P384 => Self::P384(p384::SecretKey::from_slice(bytes).map_err(bad_key)?),
        })
    }

    pub(super) fn from_pkcs8(curve: Curve, der: &[u8]) -> Result<Self> {
        Ok(match curve {
            Curve::P256 => Self::P256(p256::SecretKey::from_pkcs8_der(der).map_err(bad_key)?),
            Curve::P384 => Self::P384(p384::SecretKey::from_pkcs8_der(der).map_err(bad_key)?),
        })
    }

    pub(super) fn to_pkcs8(&self) -> Option<Vec<u8>> {
        let document = match self {
            Self::P256(key) => key.to_pkcs8_der(),
            Self::P384(key) => key.to_pkcs8_der(),
        };
        Some(document.ok()?.as_bytes().to_vec())
    }

    pub(super) fn to_scalar(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::P256(key) => key.to_bytes().to_vec(),
            Self::P384(key) => key.to_bytes().to_vec(),
        })
    }

    pub(super) fn public(&self) -> EcPublic {
        match self {
            Self::P256(key) => EcPublic::P256(key.public_key()),
            Self::P384(key) => EcPublic::P384(key.public_key()),
        }
    }

    /// Signs data; the signature is the two numbers, one after the other.
    pub(super) fn sign(&self, hash: Hash, data: &[u8]) -> Option<Vec<u8>> {
        let digest = padded_digest(self.curve(), hash, data);
        match self {
            Self::P256(key) => {
                let signature: p256::ecdsa::Signature =
                    p256::ecdsa::SigningKey::from(key).sign_prehash(&digest).ok()?;
                Some(signature.to_bytes().to_vec())
            }
            Self::P384(key) => {
                let signature: p384::ecdsa::Signature =
                    p384::ecdsa::SigningKey::from(key).sign_prehash(&digest).ok()?;
                Some(signature.to_bytes().to_vec())
            }
        }
    }
}

impl EcPublic {
    pub(super) fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
        }
    }

    /// Reads a point, compressed or not (SEC 1, section 2.3.4).
    pub(super) fn from_point(curve: Curve, bytes: &[u8]) -> Result<Self> {
        Ok(match curve {
            Curve::P256 => Self::P256(p256::PublicKey::from_sec1_bytes(bytes).map_err(bad_key)?),
            Curve::P384 => Self::P384(p384::PublicKey::from_sec1_bytes(bytes).map_err(bad_key)?),
        })
    }

    pub(super) fn from_coordinates(curve: Curve, x: &[u8], y: &[u8]) -> Result<Self> {
        Self::from_point(curve, &[&[4], x, y].concat())
    }

    pub(super) fn from_spki(curve: Curve, der: &[u8]) -> Result<Self> {
        Ok(match curve {
            Curve::P256 => Self::P256(p256::PublicKey::from_public_key_der(der).map_err(bad_key)?),
            Curve::P384 => Self::P384(p384::PublicKey::from_public_key_der(der).map_err(bad_key)?),
        })
    }

    pub(super) fn to_spki(&self) -> Option<Vec<u8>> {
        let document = match self {
            Self::P256(key) => key.to_public_key_der(),
            Self::P384(key) => key.to_public_key_der(),
        };
        Some(document.ok()?.as_bytes().to_vec())
    }

    /// Returns the uncompressed point: a 4 and the two coordinates.
    pub(super) fn to_point(&self) -> Vec<u8> {
        match self {
            Self::P256(key) => p256::ecdsa::VerifyingKey::from(key).to_sec1_point(false).as_bytes().to_vec(),
            Self::P384(key) => p384::ecdsa::VerifyingKey::from(key).to_sec1_point(false).as_bytes().to_vec(),
        }
    }

    pub(super) fn verify(&self, hash: Hash, data: &[u8], signature: &[u8]) -> bool {
        let digest = padded_digest(self.curve(), hash, data);
        match self {
            Self::P256(key) => p256::ecdsa::Signature::from_slice(signature).is_ok_and(|signature| {
                p256::ecdsa::VerifyingKey::from(key).verify_prehash(&digest, &signature).is_ok()
            }),
            Self::P384(key) => p384::ecdsa::Signature::from_slice(signature).is_ok_and(|signature| {
                p384::ecdsa::VerifyingKey::from(key).verify_prehash(&digest, &signature).is_ok()
            }),
        }
    }
}

/// Returns the digest with zeros before it, if it is shorter than the field: the same number, which the curve's functions
/// take in full length.
fn padded_digest(curve: Curve, hash: Hash, data: &[u8]) -> Vec<u8> {
    let digest = hash.digest(data);
    let mut padded = vec![0; curve.field_length().saturating_sub(digest.len())];
    padded.extend(digest);
    padded
}
