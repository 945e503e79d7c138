//! `deriveBits` and `deriveKey`, with HKDF (RFC 5869) and PBKDF2 (RFC 8018).

use std::num::NonZeroU32;

use hkdf::Hkdf;
use ring::pbkdf2;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::{
    CryptoError, Result,
    algorithm::{Hash, Name, Parameters},
    key::{Key, Material},
};

/// Iterations of PBKDF2 at most, each for one block of the length of the digest. They take seconds, which the time limits of
/// an invocation count but cannot interrupt.
const MAX_ITERATIONS: u64 = 5_000_000;
/// Bits that are derived at once, at most.
const MAX_LENGTH: u64 = 1 << 23;

/// Derives `length` bits.
pub(super) fn derive(
    parameters: &Parameters,
    key: &Key,
    salt: &[u8],
    info: &[u8],
    length: u64,
) -> Result<Vec<u8>> {
    let Material::Secret(secret) = &key.material else {
        return Err(CryptoError::invalid_access("nothing is derived from this key"));
    };
    if !length.is_multiple_of(8) {
        return Err(CryptoError::operation("the length must be a multiple of 8"));
    }
    if length > MAX_LENGTH {
        return Err(CryptoError::operation(format!("at most {MAX_LENGTH} bits are derived at once")));
    }
    let hash = parameters.hash()?;
    let mut out = vec![0; usize::try_from(length / 8).unwrap_or_default()];
    if key.name == Name::Hkdf {
        match hash {
            Hash::Sha1 => Hkdf::<Sha1>::new(Some(salt), secret).expand(info, &mut out),
            Hash::Sha256 => Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut out),
            Hash::Sha384 => Hkdf::<Sha384>::new(Some(salt), secret).expand(info, &mut out),
            Hash::Sha512 => Hkdf::<Sha512>::new(Some(salt), secret).expand(info, &mut out),
        }
        .map_err(|_| CryptoError::operation("HKDF derives at most 255 times the length of its digest"))?;
        return Ok(out);
    }
    let iterations = parameters.iterations.and_then(|count| NonZeroU32::new(u32::try_from(count).ok()?));
    let iterations = iterations.ok_or_else(|| CryptoError::operation("there must be iterations"))?;
    let blocks = out.len().div_ceil(hash.length()) as u64;
    if u64::from(iterations.get()) * blocks > MAX_ITERATIONS {
        return Err(CryptoError::operation(format!(
            "at most {MAX_ITERATIONS} iterations are made; {blocks} blocks of {iterations} are more"
        )));
    }
    if !out.is_empty() {
        let algorithm = match hash {
            Hash::Sha1 => pbkdf2::PBKDF2_HMAC_SHA1,
            Hash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
            Hash::Sha384 => pbkdf2::PBKDF2_HMAC_SHA384,
            Hash::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
        };
        pbkdf2::derive(algorithm, iterations, salt, secret, &mut out);
    }
    Ok(out)
}

/// Returns the bits of a secret key for an algorithm.
pub(super) fn key_length(parameters: &Parameters) -> Result<u64> {
    match parameters.name()? {
        Name::AesGcm => match parameters.length {
            Some(bits @ (128 | 192 | 256)) => Ok(bits),
            _ => Err(CryptoError::operation("an AES key has 128, 192 or 256 bits")),
        },
        Name::Hmac => {
            let block = parameters.hash()?.block_length() as u64 * 8;
            Ok(parameters.length.unwrap_or(block))
        }
        Name::Hkdf | Name::Pbkdf2 => {
            Err(CryptoError::operation("a key to derive from has no length of its own"))
        }
        name => Err(CryptoError::not_supported(format!("no key for {} is derived", name.as_str()))),
    }
}
