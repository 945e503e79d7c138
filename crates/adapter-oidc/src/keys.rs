//! The key set of an issuer (RFC 7517): the keys that are understood.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use identity::oidc::OidcError;
use serde_json::{Map, Value};

use crate::{
    client::{Document, IssuerHttpClient},
    key_material::KeyMaterial,
    metadata::Metadata,
};

/// Keys of a set; at most. More are ignored.
const MAX_KEYS: usize = 100;

/// A key that verifies signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VerificationKey {
    /// Name of the key.
    pub(crate) id: Option<String>,
    /// The only algorithm that the key is for.
    pub(crate) algorithm: Option<String>,
    pub(crate) material: KeyMaterial,
}

/// Fetches the keys of an issuer; none if its ID tokens are signed with the client secret.
///
/// # Errors
/// [`OidcError::Unreachable`] if there is no response, [`OidcError::InvalidResponse`] if it is no key set, or has no key for
/// an issuer whose ID tokens only a key can verify.
pub(crate) async fn fetch(
    http: &IssuerHttpClient,
    metadata: &Metadata,
) -> Result<Vec<VerificationKey>, OidcError> {
    let Some(url) = &metadata.jwks_uri else { return Ok(Vec::new()) };
    let document = Document { name: "key set", url };
    let response = http.get(document, None).await?;
    response.check_status()?;
    let keys = match response.object()?.get("keys") {
        Some(Value::Array(keys)) => usable(keys),
        // So an issuer responds that has no key.
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err(document.invalid("`keys` is not a list")),
    };
    if keys.is_empty() && !metadata.signs_with_secret {
        return Err(document.invalid("there is no key that verifies ID tokens"));
    }
    Ok(keys)
}

/// Returns the keys that are understood and verify signatures; the others are ignored (RFC 7517, section 5).
fn usable(keys: &[Value]) -> Vec<VerificationKey> {
    keys.iter().filter_map(Value::as_object).filter_map(parse).take(MAX_KEYS).collect()
}

fn parse(key: &Map<String, Value>) -> Option<VerificationKey> {
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    if text("use").is_some_and(|usage| usage != "sig") {
        return None;
    }
    let operations = key.get("key_ops").and_then(Value::as_array);
    if operations.is_some_and(|operations| !operations.iter().any(|operation| operation == "verify")) {
        return None;
    }
    let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?.trim_end_matches('=')).ok();
    let point = |length: usize| -> Option<Vec<u8>> {
        let (x, y) = (fixed(bytes("x")?, length)?, fixed(bytes("y")?, length)?);
        Some([&[4], &x[..], &y].concat())
    };
    let material = match (text("kty")?, text("crv")) {
        ("RSA", _) => {
            let n = trimmed(bytes("n")?);
            // The verifier takes moduli from 2048 bits on.
            if n.len() < 256 {
                return None;
            }
            KeyMaterial::Rsa { n, e: trimmed(bytes("e")?) }
        }
        ("EC", Some("P-256")) => KeyMaterial::P256(point(32)?),
        ("EC", Some("P-384")) => KeyMaterial::P384(point(48)?),
        ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(fixed(bytes("x")?, 32)?),
        _ => return None,
    };
    Some(VerificationKey {
        id: text("kid").map(str::to_owned),
        algorithm: text("alg").map(str::to_owned),
        material,
    })
}

/// Removes leading zeros, which some issuers send.
fn trimmed(mut number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.drain(..zeros);
    number
}

/// Returns a number with exactly so many bytes: some issuers leave out leading zeros or send more.
fn fixed(number: Vec<u8>, length: usize) -> Option<Vec<u8>> {
    let number = trimmed(number);
    let missing = length.checked_sub(number.len())?;
    Some([vec![0; missing], number].concat())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_are_not_understood_are_ignored() {
        let x = URL_SAFE_NO_PAD.encode([7; 32]);
        let n = URL_SAFE_NO_PAD.encode([9; 256]);
        let good = [
            json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "1"}),
            json!({"kty": "EC", "crv": "P-256", "x": x, "y": x, "use": "sig", "x5c": [7], "x5t": null}),
            json!({"kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "key_ops": ["verify"]}),
        ];
        let unusable = [
            json!({"kty": "RSA", "n": n, "e": "AQAB", "use": "enc", "alg": "RSA-OAEP"}),
            json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode([9; 128]), "e": "AQAB"}),
            json!({"kty": "RSA", "n": n, "e": "AQAB", "key_ops": ["encrypt"]}),
            json!({"kty": "EC", "crv": "secp256k1", "x": x, "y": x}),
            json!({"kty": "EC", "crv": "P-256", "x": x}),
            json!({"kty": "oct", "k": "c2VjcmV0"}),
            json!({"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"}),
            json!({"kty": 7}),
            json!("a key"),
            json!(null),
        ];
        let all: Vec<Value> = unusable.iter().chain(&good).cloned().collect();
        assert_eq!(usable(&all).len(), good.len());
        assert_eq!(usable(&unusable), []);
    }

    #[test]
    fn numbers_may_have_too_few_or_too_many_zeros() {
        let short =
            parse(json!({"kty": "EC", "crv": "P-256", "x": "AQ", "y": "Ag"}).as_object().unwrap()).unwrap();
        let KeyMaterial::P256(point) = short.material else { panic!("not a point") };
        assert_eq!((point.len(), point[0], point[32], point[64]), (65, 4, 1, 2));
        let n = URL_SAFE_NO_PAD.encode([&[0][..], &[9; 256]].concat());
        let long = parse(json!({"kty": "RSA", "n": n, "e": "AAEAAQ"}).as_object().unwrap()).unwrap();
        assert_eq!(long.material, KeyMaterial::Rsa { n: vec![9; 256], e: vec![1, 0, 1] });
    }
}
