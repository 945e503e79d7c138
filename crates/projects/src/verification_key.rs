//! Keys that person tokens are verified with.

use secrecy::SecretSlice;

/// A signature algorithm of JSON Web Tokens (RFC 7518, section 3.1; RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
    /// HMAC with SHA-256.
    Hs256,
}

/// A key that verifies tokens.
#[derive(Debug)]
pub struct VerificationKey {
    /// Key id, if the key has one.
    pub kid: Option<String>,
    /// Parameters of the key.
    pub material: KeyMaterial,
}

/// The parameters of a key. They decide on the algorithm, never the token (RFC 8725, section 3.1).
#[derive(Debug)]
pub enum KeyMaterial {
    /// Modulus and exponent, as big-endian numbers.
    Rsa {
        /// Modulus.
        n: Vec<u8>,
        /// Exponent.
        e: Vec<u8>,
    },
    /// An uncompressed point (SEC 1, section 2.3.3).
    P256(Vec<u8>),
    /// A public key of 32 bytes.
    Ed25519(Vec<u8>),
    /// A symmetric key.
    Hmac(SecretSlice<u8>),
}

impl KeyMaterial {
    /// Returns the one algorithm that the key is for.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Rsa { .. } => Algorithm::Rs256,
            Self::P256(_) => Algorithm::Es256,
            Self::Ed25519(_) => Algorithm::EdDsa,
            Self::Hmac(_) => Algorithm::Hs256,
        }
    }
}
