//! Signatures by the parameters of a key.

use projects::person_token::KeyMaterial;
use ring::{
    hmac,
    signature::{
        ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
        UnparsedPublicKey,
    },
};
use secrecy::ExposeSecret as _;

/// Returns true if the key made the signature of the message.
pub(crate) fn is_valid(key: &KeyMaterial, message: &[u8], signature: &[u8]) -> bool {
    let verified = match key {
        KeyMaterial::Rsa { n, e } => {
            RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
        }
        KeyMaterial::P256(point) => {
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
        }
        KeyMaterial::Ed25519(x) => UnparsedPublicKey::new(&ED25519, x).verify(message, signature),
        // `verify` compares in constant time.
        KeyMaterial::Hmac(secret) => {
            hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret()), message, signature)
        }
    };
    verified.is_ok()
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

    use super::*;

    /// The signature was made by OpenSSL with a key that was discarded.
    #[test]
    fn rsa_with_sha256_is_verified() {
        let n = "zpANIn4AQ7KNh8NPPrRh2yxy9hvN-oSKNgqxby6caBm_NX_MqMVC0S9071mXDTKAE0hsmqp-3LQSnILm9V0Blrn92KsfvqhYdvRbOw-u8kQxHgPNQQN-b227N4J0tkmjSifcptiaU3aUoNblq9s9JQ7DzgrKS2Qlt9CEVWb67iov2VbXSPm-7m2bE1YPySk4nUuWgSkuVN7B7dw-vNFGjwq-XEHlgL5Kd5vAnkFsc6sCQc_pLiASfxDVqxYHnIqSjWN9P42RBRKLFy32zgI_0UsWez4sdGgKbfhkv1yD25y4uruKESDpixfol0t12mrul_5ZbhvbXJstGnDlA2by7w";
        let key = KeyMaterial::Rsa { n: URL_SAFE_NO_PAD.decode(n).unwrap(), e: vec![1, 0, 1] };
        let signature = "jSIC0t98tzZrgqgSVtDYa24e09foTEKoKDqjH3_GA-UEJ8m-sp-GFKCUyzVbt2r8g7x2nLaLBclygzq6QQbalrc0APbU5W7fo9KuHM2Uy32QKaAnK_qRIQluF7FujpeaMxmytU8oLkcCdv9PF9Z3HqI9ptZrEQ2ghsrZNWv1eJmPz0RmyjgoXPvTA4P3sf_UCIIEKif0aHZI1DKf0mBM0DciU80Y-BpWyqhARhdKhjugwElFkrlNK8vhjwagd9xHmG49qI2cMe99d3N5lCJY1MZYbKFQzJiNHUDG5Ut0ulmwW6iF1UxHANIwwhjA08Qk2X1GgqF_GyS3oufq2R8p5w";
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert!(is_valid(&key, b"header.claims", &signature));
        assert!(!is_valid(&key, b"header.claimsx", &signature));
    }
}
