//! Keys that person tokens are verified with.

use ring::{
    hmac,
    signature::{self, RsaPublicKeyComponents, UnparsedPublicKey},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
    Hs256,
}

/// A key that verifies tokens.
#[derive(Debug, Clone)]
pub struct VerificationKey {
    pub(crate) kid: Option<String>,
    pub(crate) material: KeyMaterial,
}

/// The parameters of a key. They decide on the algorithm, never the token (RFC 8725, section 3.1).
#[derive(Clone)]
pub(crate) enum KeyMaterial {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point (SEC 1, section 2.3.3).
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
    Hmac(hmac::Key),
}

impl std::fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Material").field(&self.algorithm()).finish()
    }
}

impl KeyMaterial {
    pub(crate) fn hmac(bytes: &[u8]) -> Self {
        Self::Hmac(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        match self {
            Self::Rsa { .. } => Algorithm::Rs256,
            Self::P256(_) => Algorithm::Es256,
            Self::Ed25519(_) => Algorithm::EdDsa,
            Self::Hmac(_) => Algorithm::Hs256,
        }
    }

    pub(crate) fn verify_signature(&self, message: &[u8], signature_bytes: &[u8]) -> bool {
        let verified = match self {
            Self::Rsa { n, e } => RsaPublicKeyComponents { n, e }.verify(
                &signature::RSA_PKCS1_2048_8192_SHA256,
                message,
                signature_bytes,
            ),
            Self::P256(point) => UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                .verify(message, signature_bytes),
            Self::Ed25519(x) => {
                UnparsedPublicKey::new(&signature::ED25519, x).verify(message, signature_bytes)
            }
            // `verify` compares in constant time.
            Self::Hmac(key) => hmac::verify(key, message, signature_bytes),
        };
        verified.is_ok()
    }
}
