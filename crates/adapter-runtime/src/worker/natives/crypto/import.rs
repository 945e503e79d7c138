//! `importKey`: keys from their formats.

use ed25519_dalek::{self as ed25519, pkcs8::DecodePrivateKey as _, pkcs8::DecodePublicKey as _};
use zeroize::Zeroizing;

use super::{
    CryptoError, Result,
    algorithm::{Name, Parameters, Usage},
    ec::{EcPrivate, EcPublic},
    jwk::{self, Expected, Jwk},
    key::{Key, KeyType, Material, check_usages},
    rsa::{self, Numbers, RsaPrivate, RsaPublic},
};

/// The material that a key is made from.
struct Source<'a> {
    format: &'a str,
    parameters: &'a Parameters,
    data: &'a [u8],
    extractable: bool,
    usages: &'a [Usage],
}

/// Makes a key of bytes in one of the formats; those of `jwk` are JSON.
pub(super) fn import(
    format: &str,
    parameters: &Parameters,
    data: &[u8],
    extractable: bool,
    usages: &[Usage],
) -> Result<Key> {
    let name = parameters.name()?;
    let source = Source { format, parameters, data, extractable, usages };
    let (hash, material) = match name {
        Name::Hmac => (Some(parameters.hash()?), source.import_hmac()?),
        Name::AesGcm => (None, source.import_aes()?),
        Name::Hkdf | Name::Pbkdf2 => {
            if extractable {
                return Err(CryptoError::syntax("a key to derive from must not be extractable"));
            }
            if format != "raw" {
                return Err(source.wrong_format("raw"));
            }
            (None, Material::secret(data.to_vec())?)
        }
        Name::Ecdsa => (None, source.import_ec()?),
        Name::Ed25519 => (None, source.import_ed25519()?),
        Name::RsaPkcs1 | Name::RsaPss => (Some(parameters.hash()?), source.import_rsa(name)?),
    };
    check_usages(name, material.key_type(), usages)?;
    // Public keys may always be exported, if the code asks for that; a private one only if it was imported so.
    Ok(Key { name, hash, extractable, usages: usages.to_vec(), material })
}

impl Source<'_> {
    fn wrong_format(&self, known: &str) -> CryptoError {
        let name = self.parameters.name().map_or("", Name::as_str);
        CryptoError::not_supported(format!("a key for {name} is imported as {known}"))
    }

    fn jwk(&self, kty: &str, public_use: &str, alg: &[String]) -> Result<Jwk> {
        let key = Jwk::parse(self.data)?;
        let (usages, extractable) = (self.usages, self.extractable);
        key.check(&Expected { kty, public_use, alg, usages, extractable })?;
        Ok(key)
    }

    fn check(&self, name: Name, key_type: KeyType) -> Result<()> {
        check_usages(name, key_type, self.usages)
    }

    fn import_hmac(&self) -> Result<Material> {
        self.check(Name::Hmac, KeyType::Secret)?;
        let hash = self.parameters.hash()?;
        let bytes = match self.format {
            "raw" => self.data.to_vec(),
            "jwk" => {
                let key = self.jwk("oct", "sig", &[format!("HS{}", hash.digits())])?;
                jwk::decode("k", key.k.as_ref())?
            }
            _ => return Err(self.wrong_format("raw or jwk")),
        };
        if bytes.is_empty() {
            return Err(CryptoError::data("the key is empty"));
        }
        if let Some(length) = self.parameters.length {
            let bits = bytes.len() as u64 * 8;
            if length > bits || length + 8 <= bits {
                return Err(CryptoError::data("the length does not fit the key"));
            }
            if !length.is_multiple_of(8) {
                return Err(CryptoError::not_supported("the length of a key must be whole bytes"));
            }
        }
        Material::secret(bytes)
    }

    fn import_aes(&self) -> Result<Material> {
        self.check(Name::AesGcm, KeyType::Secret)?;
        let bytes = match self.format {
            "raw" => self.data.to_vec(),
            "jwk" => {
                let key = self.jwk("oct", "enc", &[])?;
                let bytes = jwk::decode("k", key.k.as_ref())?;
                // The name of the algorithm has the length of the key.
                self.jwk("oct", "enc", &[format!("A{}GCM", bytes.len() * 8)])?;
                bytes
            }
            _ => return Err(self.wrong_format("raw or jwk")),
        };
        if !matches!(bytes.len(), 16 | 24 | 32) {
            return Err(CryptoError::data("an AES key has 128, 192 or 256 bits"));
        }
        Material::secret(bytes)
    }

    fn import_ec(&self) -> Result<Material> {
        let curve = self.parameters.curve()?;
        match self.format {
            "raw" => {
                self.check(Name::Ecdsa, KeyType::Public)?;
                Ok(Material::EcPublic(EcPublic::from_point(curve, self.data)?))
            }
            "spki" => {
                self.check(Name::Ecdsa, KeyType::Public)?;
                Ok(Material::EcPublic(EcPublic::from_spki(curve, self.data)?))
            }
            "pkcs8" => {
                self.check(Name::Ecdsa, KeyType::Private)?;
                Ok(Material::EcPrivate(EcPrivate::from_pkcs8(curve, self.data)?))
            }
            "jwk" => {
                let key = self.jwk("EC", "sig", &[format!("ES{}", &curve.as_str()[2..])])?;
                self.check(Name::Ecdsa, type_of(&key))?;
                key.check_curve(curve.as_str())?;
                let x = jwk::decode_field("x", key.x.as_ref(), curve)?;
                let y = jwk::decode_field("y", key.y.as_ref(), curve)?;
                let public = EcPublic::from_coordinates(curve, &x, &y)?;
                if key.d.is_none() {
                    return Ok(Material::EcPublic(public));
                }
                let d = Zeroizing::new(jwk::decode_field("d", key.d.as_ref(), curve)?);
                let private = EcPrivate::from_scalar(curve, &d)?;
                if private.public() != public {
                    return Err(CryptoError::data("the public and the private part do not belong together"));
                }
                Ok(Material::EcPrivate(private))
            }
            _ => Err(self.wrong_format("raw, spki, pkcs8 or jwk")),
        }
    }

    fn import_ed25519(&self) -> Result<Material> {
        fn bad_key<E>(_: E) -> CryptoError {
            CryptoError::data("the key is not a valid Ed25519 key")
        }
        let public = |bytes: &[u8]| {
            let bytes = bytes.try_into().map_err(bad_key)?;
            ed25519::VerifyingKey::from_bytes(bytes).map_err(bad_key)
        };
        match self.format {
            "raw" => {
                self.check(Name::Ed25519, KeyType::Public)?;
                Ok(Material::EdPublic(public(self.data)?))
            }
            "spki" => {
                self.check(Name::Ed25519, KeyType::Public)?;
                let key = ed25519::VerifyingKey::from_public_key_der(self.data).map_err(bad_key)?;
                Ok(Material::EdPublic(key))
            }
            "pkcs8" => {
                self.check(Name::Ed25519, KeyType::Private)?;
                let key = ed25519::SigningKey::from_pkcs8_der(self.data).map_err(bad_key)?;
                Ok(Material::EdPrivate(key))
            }
            "jwk" => {
                let key = self.jwk("OKP", "sig", &["Ed25519".to_owned(), "EdDSA".to_owned()])?;
                self.check(Name::Ed25519, type_of(&key))?;
                key.check_curve("Ed25519")?;
                let public = public(&jwk::decode("x", key.x.as_ref())?)?;
                if key.d.is_none() {
                    return Ok(Material::EdPublic(public));
                }
                let seed = Zeroizing::new(jwk::decode("d", key.d.as_ref())?);
                let seed = seed.as_slice().try_into().map_err(bad_key)?;
                let private = ed25519::SigningKey::from_bytes(seed);
                if private.verifying_key() != public {
                    return Err(CryptoError::data("the public and the private part do not belong together"));
                }
                Ok(Material::EdPrivate(private))
            }
            _ => Err(self.wrong_format("raw, spki, pkcs8 or jwk")),
        }
    }

    fn import_rsa(&self, name: Name) -> Result<Material> {
        let hash = self.parameters.hash()?;
        let check = |key_type| {
            self.check(name, key_type)?;
            rsa::check_hash(name, hash, key_type == KeyType::Private)
        };
        match self.format {
            "spki" => {
                check(KeyType::Public)?;
                Ok(Material::RsaPublic(RsaPublic::from_spki(self.data)?))
            }
            "pkcs8" => {
                check(KeyType::Private)?;
                Ok(Material::RsaPrivate(Box::new(RsaPrivate::from_pkcs8(self.data)?)))
            }
            "jwk" => {
                let prefix = if name == Name::RsaPss { "PS" } else { "RS" };
                let key = self.jwk("RSA", "sig", &[format!("{prefix}{}", hash.digits())])?;
                check(type_of(&key))?;
                let number = |name, member: &Option<String>| jwk::decode_number(name, member.as_ref());
                let public = RsaPublic::new(number("n", &key.n)?, number("e", &key.e)?)?;
                if key.d.is_none() {
                    return Ok(Material::RsaPublic(public));
                }
                if key.oth.is_some() {
                    return Err(CryptoError::not_supported(
                        "RSA keys with more than two primes are not supported",
                    ));
                }
                let secret = |name, member| Ok::<_, CryptoError>(Zeroizing::new(number(name, member)?));
                let numbers = Numbers {
                    d: secret("d", &key.d)?,
                    p: secret("p", &key.p)?,
                    q: secret("q", &key.q)?,
                    dp: secret("dp", &key.dp)?,
                    dq: secret("dq", &key.dq)?,
                    qi: secret("qi", &key.qi)?,
                };
                Ok(Material::RsaPrivate(Box::new(RsaPrivate::new(public, numbers)?)))
            }
            _ => Err(self.wrong_format("spki, pkcs8 or jwk")),
        }
    }
}

/// A key with a private part is private.
fn type_of(key: &Jwk) -> KeyType {
    if key.d.is_some() { KeyType::Private } else { KeyType::Public }
}
