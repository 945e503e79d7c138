//! The numbers and points of public keys.

/// The parameters of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyMaterial {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    /// An uncompressed point.
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}
