//! HMAC (RFC 2104) with the digests of the Web Cryptography API.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use super::Hash;

/// Returns the authentication code of `data`.
pub(super) fn sign(hash: Hash, key: &[u8], data: &[u8]) -> Vec<u8> {
    match hash {
        Hash::Sha1 => authenticate::<Hmac<Sha1>>(key, data),
        Hash::Sha256 => authenticate::<Hmac<Sha256>>(key, data),
        Hash::Sha384 => authenticate::<Hmac<Sha384>>(key, data),
        Hash::Sha512 => authenticate::<Hmac<Sha512>>(key, data),
    }
}

/// Compares in constant time, save for the length of a code, which is no secret.
pub(super) fn verify(hash: Hash, key: &[u8], code: &[u8], data: &[u8]) -> bool {
    sign(hash, key, data).ct_eq(code).into()
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn authenticate<M: Mac + KeyInit>(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.chain_update(data).finalize().into_bytes().to_vec()
}
