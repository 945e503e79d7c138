//! Proof key for code exchange, with SHA-256 only (RFC 7636).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Challenge of a client: the SHA-256 digest of a verifier that the client reveals when it exchanges the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeChallenge([u8; 32]);

impl CodeChallenge {
    /// Parses `code_challenge` (RFC 7636, section 4.2); none if it is malformed.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?)
    }

    /// Returns the challenge with these stored bytes; none if their number is not 32.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// True if `verifier` is well-formed (RFC 7636, section 4.1) and has this digest; compared in constant time.
    #[must_use]
    pub fn verify(&self, verifier: &str) -> bool {
        let is_well_formed = (43..=128).contains(&verifier.len())
            && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
        let digest: [u8; 32] = Sha256::digest(verifier.as_bytes()).into();
        is_well_formed & bool::from(digest.ct_eq(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_verifies() {
        // RFC 7636, appendix B.
        let challenge = CodeChallenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap();
        assert!(challenge.verify("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert!(!challenge.verify("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl"));
        assert!(!challenge.verify(""));
        for bad in ["", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=", "short", &"A".repeat(44)] {
            assert_eq!(CodeChallenge::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_verifier_has_43_to_128_characters() {
        for (length, is_well_formed) in [(42, false), (43, true), (128, true), (129, false)] {
            let verifier = "a".repeat(length);
            let challenge = CodeChallenge(Sha256::digest(verifier.as_bytes()).into());
            assert_eq!(challenge.verify(&verifier), is_well_formed, "{length}");
        }
    }
}
