//! Keys of RSA (RFC 8017). ring signs and verifies, in constant time where a secret is used; the crate rsa, whose private
//! operations are not in constant time (RUSTSEC-2023-0071), only generates keys and completes their numbers.

use ring::{
    rand::SystemRandom,
    rsa::{KeyPair, KeyPairComponents, PublicKeyComponents},
    signature::{self, RsaEncoding, RsaParameters},
};
use rsa::{
    BoxedUint, RsaPrivateKey,
    pkcs1::{self, UintRef},
    pkcs8::{
        AlgorithmIdentifierRef, ObjectIdentifier, PrivateKeyInfoRef, SubjectPublicKeyInfoRef,
        der::{
            Decode as _, Encode as _,
            asn1::{AnyRef, BitStringRef, OctetStringRef},
        },
    },
    traits::{PrivateKeyParts as _, PublicKeyParts as _},
};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{
    CryptoError, Result,
    algorithm::{Hash, Name},
};

/// Bits of a modulus that a public key may have.
const PUBLIC_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// Bits of a modulus that a private key may have.
pub(super) const PRIVATE_BITS: std::ops::RangeInclusive<usize> = 2048..=4096;
/// The public exponent of generated keys.
const EXPONENT: [u8; 3] = [1, 0, 1];
const OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ALGORITHM: AlgorithmIdentifierRef<'static> =
    AlgorithmIdentifierRef { oid: OID, parameters: Some(AnyRef::NULL) };

/// A number in big-endian order, without zeros before it.
type Number = Zeroizing<Vec<u8>>;

pub(super) struct RsaPublic {
    pub(super) n: Vec<u8>,
    pub(super) e: Vec<u8>,
}

/// The private numbers of a key with two primes.
pub(super) struct Numbers {
    pub(super) d: Number,
    pub(super) p: Number,
    pub(super) q: Number,
    pub(super) dp: Number,
    pub(super) dq: Number,
    pub(super) qi: Number,
}

pub(super) struct RsaPrivate {
    pub(super) public: RsaPublic,
    pub(super) numbers: Numbers,
    signer: KeyPair,
}

fn bad_key<E>(_: E) -> CryptoError {
    CryptoError::data("the key is not a valid RSA key")
}

fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}

impl RsaPublic {
    pub(super) fn new(n: Vec<u8>, e: Vec<u8>) -> Result<Self> {
        let is_odd = |number: &[u8]| number.last().is_some_and(|last| last % 2 == 1);
        if !is_odd(&n) || !is_odd(&e) {
            return Err(bad_key(()));
        }
        if !PUBLIC_BITS.contains(&bits(&n)) {
            return Err(CryptoError::not_supported(
                "the modulus of a public key must have from 2048 to 8192 bits",
            ));
        }
        if e == [1] || bits(&e) > 33 {
            return Err(CryptoError::not_supported("the public exponent must be from 3 to 2^33 - 1"));
        }
        Ok(Self { n, e })
    }

    pub(super) fn from_spki(der: &[u8]) -> Result<Self> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(bad_key)?;
        if info.algorithm.oid != OID {
            return Err(bad_key(()));
        }
        let key = info.subject_public_key.as_bytes().ok_or_else(|| bad_key(()))?;
        let key = pkcs1::RsaPublicKeyRef::from_der(key).map_err(bad_key)?;
        Self::new(key.modulus.as_bytes().to_vec(), key.public_exponent.as_bytes().to_vec())
    }

    pub(super) fn to_spki(&self) -> Option<Vec<u8>> {
        let (modulus, public_exponent) = (UintRef::new(&self.n).ok()?, UintRef::new(&self.e).ok()?);
        let key = pkcs1::RsaPublicKeyRef { modulus, public_exponent }.to_der().ok()?;
        let subject_public_key = BitStringRef::from_bytes(&key).ok()?;
        SubjectPublicKeyInfoRef { algorithm: ALGORITHM, subject_public_key }.to_der().ok()
    }

    pub(super) fn describe(&self, algorithm: &mut Value) {
        algorithm["modulusLength"] = json!(bits(&self.n));
        algorithm["publicExponent"] = json!(self.e);
    }

    pub(super) fn verify(&self, name: Name, hash: Hash, data: &[u8], signature: &[u8]) -> Result<bool> {
        let parameters: &RsaParameters = match (name, hash) {
            (Name::RsaPss, Hash::Sha256) => &signature::RSA_PSS_2048_8192_SHA256,
            (Name::RsaPss, Hash::Sha384) => &signature::RSA_PSS_2048_8192_SHA384,
            (Name::RsaPss, Hash::Sha512) => &signature::RSA_PSS_2048_8192_SHA512,
            (Name::RsaPss, Hash::Sha1) => return Err(no_sha1()),
            (_, Hash::Sha1) => &signature::RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
            (_, Hash::Sha256) => &signature::RSA_PKCS1_2048_8192_SHA256,
            (_, Hash::Sha384) => &signature::RSA_PKCS1_2048_8192_SHA384,
            (_, Hash::Sha512) => &signature::RSA_PKCS1_2048_8192_SHA512,
        };
        let key = PublicKeyComponents { n: &self.n, e: &self.e };
        Ok(key.verify(parameters, data, signature).is_ok())
    }
}

fn no_sha1() -> CryptoError {
    CryptoError::not_supported("RSA does not sign with SHA-1, and RSA-PSS does not verify with it")
}

/// Checks that keys of this type may be for a digest.
pub(super) fn check_hash(name: Name, hash: Hash, is_private: bool) -> Result<()> {
    if hash == Hash::Sha1 && (is_private || name == Name::RsaPss) { Err(no_sha1()) } else { Ok(()) }
}

impl RsaPrivate {
    pub(super) fn new(public: RsaPublic, numbers: Numbers) -> Result<Self> {
        if !PRIVATE_BITS.contains(&bits(&public.n)) || !bits(&public.n).is_multiple_of(512) {
            return Err(CryptoError::not_supported(
                "the modulus of a private key must have from 2048 to 4096 bits, a multiple of 512",
            ));
        }
        if bits(&public.e) < 17 {
            return Err(CryptoError::not_supported(
                "the public exponent of a private key must be at least 65537",
            ));
        }
        let signer = if numbers.p.as_slice() < numbers.q.as_slice() {
            build_signer(&public, &swap_primes(&public, &numbers)?)?
        } else {
            build_signer(&public, &numbers)?
        };
        let key = Self { public, numbers, signer };
        // ring compares each signature with the public key: numbers that do not belong together cannot sign.
        key.sign(Name::RsaPkcs1, Hash::Sha256, b"").map_err(bad_key)?;
        Ok(key)
    }

    pub(super) fn from_pkcs8(der: &[u8]) -> Result<Self> {
        let info = PrivateKeyInfoRef::from_der(der).map_err(bad_key)?;
        if info.algorithm.oid != OID {
            return Err(bad_key(()));
        }
        let key = pkcs1::RsaPrivateKeyRef::from_der(info.private_key.as_bytes()).map_err(bad_key)?;
        if key.other_prime_infos.is_some() {
            return Err(CryptoError::not_supported("RSA keys with more than two primes are not supported"));
        }
        let public =
            RsaPublic::new(key.modulus.as_bytes().to_vec(), key.public_exponent.as_bytes().to_vec())?;
        let number = |number: UintRef<'_>| Zeroizing::new(number.as_bytes().to_vec());
        let numbers = Numbers {
            d: number(key.private_exponent),
            p: number(key.prime1),
            q: number(key.prime2),
            dp: number(key.exponent1),
            dq: number(key.exponent2),
            qi: number(key.coefficient),
        };
        Self::new(public, numbers)
    }

    pub(super) fn to_pkcs8(&self) -> Option<Vec<u8>> {
        let number = |number| UintRef::new(number).ok();
        let key = pkcs1::RsaPrivateKeyRef {
            modulus: number(&self.public.n)?,
            public_exponent: number(&self.public.e)?,
            private_exponent: number(&self.numbers.d)?,
            prime1: number(&self.numbers.p)?,
            prime2: number(&self.numbers.q)?,
            exponent1: number(&self.numbers.dp)?,
            exponent2: number(&self.numbers.dq)?,
            coefficient: number(&self.numbers.qi)?,
            other_prime_infos: None,
        };
        let key = Zeroizing::new(key.to_der().ok()?);
        PrivateKeyInfoRef::new(ALGORITHM, OctetStringRef::new(&key).ok()?).to_der().ok()
    }

    /// Generates a key. The randomness is a seed that nobody else sees.
    pub(super) fn generate(bits: u64, exponent: &[u8], seed: [u8; 32]) -> Result<Self> {
        let first = exponent.iter().position(|byte| *byte != 0).unwrap_or(exponent.len());
        if exponent[first..] != EXPONENT {
            return Err(CryptoError::not_supported("the public exponent of a new key must be 65537"));
        }
        let bits = usize::try_from(bits).unwrap_or(usize::MAX);
        if !PRIVATE_BITS.contains(&bits) || !bits.is_multiple_of(512) {
            return Err(CryptoError::operation(
                "the modulusLength must be from 2048 to 4096, a multiple of 512",
            ));
        }
        let mut random = <rand::rngs::StdRng as rand::SeedableRng>::from_seed(seed);
        let failed = |_| CryptoError::operation("the key could not be generated");
        let key = RsaPrivateKey::new(&mut random, bits).map_err(failed)?;
        let public = RsaPublic::new(key.n_bytes().to_vec(), key.e_bytes().to_vec())?;
        Self::new(public, numbers_of(key)?)
    }

    /// Signs data. The salt of RSA-PSS is as long as the digest.
    pub(super) fn sign(&self, name: Name, hash: Hash, data: &[u8]) -> Result<Vec<u8>> {
        let encoding: &'static dyn RsaEncoding = match (name, hash) {
            (_, Hash::Sha1) => return Err(no_sha1()),
            (Name::RsaPss, Hash::Sha256) => &signature::RSA_PSS_SHA256,
            (Name::RsaPss, Hash::Sha384) => &signature::RSA_PSS_SHA384,
            (Name::RsaPss, Hash::Sha512) => &signature::RSA_PSS_SHA512,
            (_, Hash::Sha256) => &signature::RSA_PKCS1_SHA256,
            (_, Hash::Sha384) => &signature::RSA_PKCS1_SHA384,
            (_, Hash::Sha512) => &signature::RSA_PKCS1_SHA512,
        };
        let mut signed = vec![0; self.signer.public().modulus_len()];
        self.signer
            .sign(encoding, &SystemRandom::new(), data, &mut signed)
            .map_err(|_| CryptoError::operation("the data could not be signed"))?;
        Ok(signed)
    }
}

fn build_signer(public: &RsaPublic, numbers: &Numbers) -> Result<KeyPair> {
    let components = KeyPairComponents {
        public_key: PublicKeyComponents { n: public.n.as_slice(), e: public.e.as_slice() },
        d: numbers.d.as_slice(),
        p: numbers.p.as_slice(),
        q: numbers.q.as_slice(),
        dP: numbers.dp.as_slice(),
        dQ: numbers.dq.as_slice(),
        qInv: numbers.qi.as_slice(),
    };
    KeyPair::from_components(&components).map_err(bad_key)
}

/// Returns the numbers with the greater prime first, as ring wants them.
fn swap_primes(public: &RsaPublic, numbers: &Numbers) -> Result<Numbers> {
    let number = |bytes: &[u8]| BoxedUint::from_be_slice_vartime(bytes);
    let primes = vec![number(&numbers.q), number(&numbers.p)];
    let mut key =
        RsaPrivateKey::from_components(number(&public.n), number(&public.e), number(&numbers.d), primes)
            .map_err(bad_key)?;
    key.precompute().map_err(bad_key)?;
    numbers_of(key)
}

fn numbers_of(mut key: RsaPrivateKey) -> Result<Numbers> {
    key.precompute().map_err(bad_key)?;
    let number =
        |value: &BoxedUint| -> Number { Zeroizing::new(value.to_be_bytes_trimmed_vartime().to_vec()) };
    let missing = || bad_key(());
    let [p, q] = key.primes() else { return Err(missing()) };
    Ok(Numbers {
        d: number(key.d()),
        p: number(p),
        q: number(q),
        dp: number(key.dp().ok_or_else(missing)?),
        dq: number(key.dq().ok_or_else(missing)?),
        qi: number(&key.crt_coefficient().ok_or_else(missing)?),
    })
}
