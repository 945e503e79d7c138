//! Signatures of ID tokens, verified by ring.

use ring::{
    hmac,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
        RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
        RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
        UnparsedPublicKey,
    },
};

use crate::key_material::KeyMaterial;

/// The algorithm of signatures with the client secret. It has no public key, so none ever verifies it.
pub(crate) const HMAC_ALGORITHM: &str = "HS256";

/// Returns `true` if a public key can verify signatures with this algorithm.
pub(crate) fn is_public_key_algorithm(algorithm: &str) -> bool {
    rsa_parameters(algorithm).is_some() || matches!(algorithm, "ES256" | "ES384" | "EdDSA" | "Ed25519")
}

/// Returns `true` if a key made the signature with this algorithm (RFC 7518, section 3.1; RFC 8037). The kind of the key
/// decides which algorithms it can be used with, so that no public key is ever taken for a secret (RFC 8725, section 3.1).
pub(crate) fn is_valid(algorithm: &str, key: &KeyMaterial, message: &[u8], signature: &[u8]) -> bool {
    match (key, algorithm) {
        (KeyMaterial::Rsa { n, e }, _) => rsa_parameters(algorithm).is_some_and(|parameters| {
            RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
        }),
        (KeyMaterial::P256(point), "ES256") => {
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
        }
        (KeyMaterial::P384(point), "ES384") => {
            UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(message, signature).is_ok()
        }
        (KeyMaterial::Ed25519(x), "EdDSA" | "Ed25519") => {
            UnparsedPublicKey::new(&ED25519, x).verify(message, signature).is_ok()
        }
        _ => false,
    }
}

/// Returns `true` if the client secret made the signature (HS256).
pub(crate) fn is_valid_with_secret(secret: &[u8], message: &[u8], signature: &[u8]) -> bool {
    // `verify` compares in constant time.
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret), message, signature).is_ok()
}

fn rsa_parameters(algorithm: &str) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        "RS256" => &RSA_PKCS1_2048_8192_SHA256,
        "RS384" => &RSA_PKCS1_2048_8192_SHA384,
        "RS512" => &RSA_PKCS1_2048_8192_SHA512,
        "PS256" => &RSA_PSS_2048_8192_SHA256,
        "PS384" => &RSA_PSS_2048_8192_SHA384,
        "PS512" => &RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}
