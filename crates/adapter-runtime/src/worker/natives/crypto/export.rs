//! `exportKey`: keys in their formats.

use serde_json::Value;

use super::{
    Answer, CryptoError, Result,
    algorithm::{Curve, Name},
    ec::EcPublic,
    jwk::{self, text},
    key::{Key, KeyType, Material},
};

/// The beginning of a private Ed25519 key (RFC 8410, section 7).
const ED25519_PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
/// The beginning of a public Ed25519 key (RFC 8410, section 4).
const ED25519_SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// Returns a key in one of the formats, if the code may have it.
pub(super) fn export(format: &str, key: &Key) -> Result<Answer> {
    if matches!(key.name, Name::Hkdf | Name::Pbkdf2) {
        return Err(CryptoError::not_supported("a key to derive from is never exported"));
    }
    if !key.extractable {
        return Err(CryptoError::invalid_access("the key is not extractable"));
    }
    match (format, key.material.key_type()) {
        ("jwk", _) => return Ok(Answer::Json(to_jwk(key))),
        ("raw", KeyType::Secret) | ("raw" | "spki", KeyType::Public) | ("pkcs8", KeyType::Private) => {}
        ("raw" | "spki", KeyType::Private) => {
            return Err(CryptoError::invalid_access(format!("a private key is not exported as {format}")));
        }
        ("pkcs8", KeyType::Public) => {
            return Err(CryptoError::invalid_access("a public key is not exported as pkcs8"));
        }
        _ => return Err(CryptoError::not_supported("a secret key is exported as raw or jwk")),
    }
    let is_raw = format == "raw";
    let bytes = match &key.material {
        Material::Secret(bytes) => Some(bytes.to_vec()),
        Material::EcPublic(key) if is_raw => Some(key.to_point()),
        Material::EcPublic(key) => key.to_spki(),
        Material::EcPrivate(key) => key.to_pkcs8(),
        Material::EdPublic(key) if is_raw => Some(key.to_bytes().to_vec()),
        Material::EdPublic(key) => Some([ED25519_SPKI.as_slice(), key.as_bytes()].concat()),
        Material::EdPrivate(key) => Some([ED25519_PKCS8.as_slice(), key.as_bytes()].concat()),
        Material::RsaPublic(_) if is_raw => {
            return Err(CryptoError::not_supported("an RSA key is exported as spki, pkcs8 or jwk"));
        }
        Material::RsaPublic(key) => key.to_spki(),
        Material::RsaPrivate(key) => key.to_pkcs8(),
    };
    bytes.map(Answer::Bytes).ok_or_else(|| CryptoError::operation("the key could not be encoded"))
}

fn to_jwk(key: &Key) -> Value {
    match &key.material {
        Material::Secret(bytes) => {
            let alg = match (key.name, key.hash) {
                (Name::Hmac, Some(hash)) => format!("HS{}", hash.digits()),
                _ => format!("A{}GCM", bytes.len() * 8),
            };
            jwk::encode(key, "oct", Some(alg), [("k", text(bytes))])
        }
        Material::EcPublic(public) => jwk::encode(key, "EC", None, point(public)),
        Material::EcPrivate(private) => {
            let d = ("d", text(private.to_scalar()));
            jwk::encode(key, "EC", None, point(&private.public()).into_iter().chain([d]))
        }
        Material::EdPublic(public) => {
            let members = [("crv", "Ed25519".into()), ("x", text(public.as_bytes()))];
            jwk::encode(key, "OKP", Some("Ed25519".to_owned()), members)
        }
        Material::EdPrivate(private) => {
            let x = text(private.verifying_key().as_bytes());
            let members = [("crv", "Ed25519".into()), ("x", x), ("d", text(private.as_bytes()))];
            jwk::encode(key, "OKP", Some("Ed25519".to_owned()), members)
        }
        Material::RsaPublic(public) => {
            jwk::encode(key, "RSA", rsa_alg(key), [("n", text(&public.n)), ("e", text(&public.e))])
        }
        Material::RsaPrivate(private) => {
            let (public, numbers) = (&private.public, &private.numbers);
            let members = [
                ("n", text(&public.n)),
                ("e", text(&public.e)),
                ("d", text(&numbers.d)),
                ("p", text(&numbers.p)),
                ("q", text(&numbers.q)),
                ("dp", text(&numbers.dp)),
                ("dq", text(&numbers.dq)),
                ("qi", text(&numbers.qi)),
            ];
            jwk::encode(key, "RSA", rsa_alg(key), members)
        }
    }
}

fn point(public: &EcPublic) -> [(&'static str, Value); 3] {
    let curve: Curve = public.curve();
    let point = public.to_point();
    let (x, y) = point[1..].split_at(curve.field_length());
    [("crv", curve.as_str().into()), ("x", text(x)), ("y", text(y))]
}

fn rsa_alg(key: &Key) -> Option<String> {
    let prefix = if key.name == Name::RsaPss { "PS" } else { "RS" };
    key.hash.map(|hash| format!("{prefix}{}", hash.digits()))
}
