//! `generateKey`.

use ed25519_dalek as ed25519;

use super::{
    CryptoError, Result,
    algorithm::{Hash, Name, Parameters, Usage},
    derive,
    ec::EcPrivate,
    key::{Key, KeyType, Material, check_usages},
    rsa::{self, RsaPrivate, RsaPublic},
};

pub(super) enum Generated {
    Secret(Box<Key>),
    Pair { public: Box<Key>, private: Box<Key> },
}

/// Makes new keys of bytes that `random` gives. The exponent is that of RSA.
pub(super) fn generate(
    parameters: &Parameters,
    exponent: &[u8],
    extractable: bool,
    usages: &[Usage],
    random: impl Fn(usize) -> Vec<u8>,
) -> Result<Generated> {
    let name = parameters.name()?;
    if matches!(name, Name::Hmac | Name::AesGcm) {
        check_usages(name, KeyType::Secret, usages)?;
        let hash = (name == Name::Hmac).then(|| parameters.hash()).transpose()?;
        let bits = derive::key_length(parameters)?;
        if bits == 0 || !bits.is_multiple_of(8) || bits > 65536 {
            return Err(CryptoError::operation("the length must be whole bytes, at most 65536 bits"));
        }
        let bytes = random(usize::try_from(bits / 8).unwrap_or_default());
        let material = Material::secret(bytes)?;
        return Ok(Generated::Secret(Box::new(Key {
            name,
            hash,
            extractable,
            usages: usages.to_vec(),
            material,
        })));
    }
    let (of_public, of_private): (Vec<_>, Vec<_>) = usages.iter().partition(|usage| **usage == Usage::Verify);
    check_usages(name, KeyType::Private, &of_private)?;
    let (hash, public, private) = match name {
        Name::Ecdsa => {
            let curve = parameters.curve()?;
            // Nearly every number of this length is a key; another one is taken instead of the few that are not.
            let key =
                (0..100).find_map(|_| EcPrivate::from_scalar(curve, &random(curve.field_length())).ok());
            let key = key.ok_or_else(|| CryptoError::operation("the key could not be generated"))?;
            (None, Material::EcPublic(key.public()), Material::EcPrivate(key))
        }
        Name::Ed25519 => {
            let key = ed25519::SigningKey::from_bytes(&seed(&random));
            (None, Material::EdPublic(key.verifying_key()), Material::EdPrivate(key))
        }
        Name::RsaPkcs1 | Name::RsaPss => {
            let hash: Hash = parameters.hash()?;
            rsa::check_hash(name, hash, true)?;
            let bits = parameters.modulus_length.unwrap_or_default();
            let key = RsaPrivate::generate(bits, exponent, seed(&random))?;
            let public = RsaPublic::new(key.public.n.clone(), key.public.e.clone())?;
            (Some(hash), Material::RsaPublic(public), Material::RsaPrivate(Box::new(key)))
        }
        Name::Hkdf | Name::Pbkdf2 | Name::Hmac | Name::AesGcm => {
            return Err(CryptoError::not_supported(format!("keys for {} are not generated", name.as_str())));
        }
    };
    Ok(Generated::Pair {
        public: Box::new(Key { name, hash, extractable: true, usages: of_public, material: public }),
        private: Box::new(Key { name, hash, extractable, usages: of_private, material: private }),
    })
}

fn seed(random: impl Fn(usize) -> Vec<u8>) -> [u8; 32] {
    let mut seed = [0; 32];
    seed.copy_from_slice(&random(32));
    seed
}
