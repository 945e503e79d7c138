//! Assertions of service accounts: JSON Web Tokens for the grant of RFC 7523, section 2.1.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use connections::auth::ServiceAccountKey;
use kernel::Timestamp;
use ring::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;

/// Seconds for which an assertion is valid; providers take no longer ones.
const LIFETIME: i64 = 3600;

/// The error for a key that signs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnusableKey;

/// The claims of an assertion besides its signer.
pub(crate) struct AssertionRequest<'a> {
    pub(crate) audience: &'a str,
    /// Scopes, separated by spaces; empty for none.
    pub(crate) scope: &'a str,
    /// Person for whom the service account acts.
    pub(crate) subject: Option<&'a str>,
    pub(crate) now: Timestamp,
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<&'a str>,
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    scope: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<&'a str>,
    iat: i64,
    exp: i64,
}

/// Signs an assertion with RS256. This takes milliseconds of computation.
pub(crate) fn sign_assertion(
    key: &ServiceAccountKey,
    request: &AssertionRequest<'_>,
) -> Result<SecretString, UnusableKey> {
    let header = Header { alg: "RS256", typ: "JWT", kid: key.private_key_id.as_deref() };
    let iat = request.now.timestamp();
    let claims = Claims {
        iss: &key.client_email,
        aud: request.audience,
        scope: request.scope,
        sub: request.subject,
        iat,
        exp: iat + LIFETIME,
    };
    let message = format!("{}.{}", encode(&header)?, encode(&claims)?);
    let pair = key_pair(key.private_key.expose_secret())?;
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature)
        .map_err(|_| UnusableKey)?;
    Ok(SecretString::from(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))))
}

fn encode(part: &impl Serialize) -> Result<String, UnusableKey> {
    serde_json::to_vec(part).map(|json| URL_SAFE_NO_PAD.encode(json)).map_err(|_| UnusableKey)
}

/// Reads a private key in PEM: PKCS #8 or PKCS #1.
fn key_pair(pem: &str) -> Result<RsaKeyPair, UnusableKey> {
    match PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| UnusableKey)? {
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        _ => return Err(UnusableKey),
    }
    .map_err(|_| UnusableKey)
}
