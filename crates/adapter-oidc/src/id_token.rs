//! Verification of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use identity::oidc::{IdTokenClaims, OidcError};
use kernel::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};

use crate::{
    claims,
    keys::VerificationKey,
    signature::{HMAC_ALGORITHM, is_valid, is_valid_with_secret},
};

/// Maximum size of a token, in bytes.
const MAX_TOKEN_BYTES: usize = 64 * 1024;
/// Difference between the clocks that is tolerated, in seconds.
const CLOCK_SKEW: f64 = 60.0;

/// Claims that a token must have.
pub(crate) struct Expected<'e> {
    pub(crate) issuer: &'e str,
    pub(crate) client_id: &'e str,
    /// Client secret, if the issuer announces that it signs with it.
    pub(crate) client_secret: Option<&'e SecretString>,
    pub(crate) nonce: &'e str,
    pub(crate) now: Timestamp,
}

fn refused(reason: &str) -> OidcError {
    OidcError::Refused(format!("the ID token is refused: {reason}"))
}

/// Verifies signature, issuer, audience, times and nonce of a token, and returns the claims that are used. All others may
/// have any type.
///
/// # Errors
/// [`OidcError::Refused`] with the reason.
pub(crate) fn verify(
    token: &str,
    keys: &[VerificationKey],
    expected: &Expected<'_>,
) -> Result<IdTokenClaims, OidcError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(refused("it is too large"));
    }
    let (message, signature) = token.rsplit_once('.').ok_or_else(|| refused("it has no signature"))?;
    let (header, payload) = message.split_once('.').ok_or_else(|| refused("it has no claims"))?;
    let header = object(header).ok_or_else(|| refused("its header is malformed"))?;
    // An extension that must be understood (RFC 7515, section 4.1.11); none is.
    if header.contains_key("crit") {
        return Err(refused("it has an extension that is not supported"));
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| refused("its signature is malformed"))?;
    let algorithm = claims::text(&header, "alg").ok_or_else(|| refused("it names no algorithm"))?;
    let id = claims::text(&header, "kid");
    let is_signed = match (algorithm, expected.client_secret) {
        (HMAC_ALGORITHM, Some(secret)) => {
            is_valid_with_secret(secret.expose_secret().as_bytes(), message.as_bytes(), &signature)
        }
        // No key of the set is a secret, whatever it holds (RFC 8725, section 3.1).
        (HMAC_ALGORITHM, None) => false,
        _ => keys
            .iter()
            .filter(|key| id.is_none() || key.id.is_none() || key.id.as_deref() == id)
            .filter(|key| key.algorithm.as_deref().is_none_or(|only| only == algorithm))
            .any(|key| is_valid(algorithm, &key.material, message.as_bytes(), &signature)),
    };
    if !is_signed {
        return Err(refused("no key of the issuer verifies its signature"));
    }
    let found = object(payload).ok_or_else(|| refused("its claims are malformed"))?;
    if claims::text(&found, "iss") != Some(expected.issuer) {
        return Err(refused("it is of another issuer"));
    }
    check_audience(&found, expected.client_id)?;
    check_times(&found, expected.now)?;
    if claims::text(&found, "nonce") != Some(expected.nonce) {
        return Err(refused("its nonce is another"));
    }
    Ok(IdTokenClaims {
        issuer: expected.issuer.to_owned(),
        subject: claims::subject(&found)?.to_owned(),
        email: claims::text(&found, "email").map(str::to_owned),
        email_verified: claims::email_verified(&found)?,
        name: claims::text(&found, "name").map(str::to_owned),
    })
}

/// The client must be among the audiences. With several, and wherever it is named, the party that the token was issued to
/// must be the client.
fn check_audience(claims: &Map<String, Value>, client_id: &str) -> Result<(), OidcError> {
    let audiences: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !audiences.contains(&client_id) {
        return Err(refused("it is for another client"));
    }
    match claims.get("azp").filter(|party| !party.is_null()) {
        Some(party) if party == client_id => Ok(()),
        Some(_) => Err(refused("it was issued to another client")),
        None if audiences.iter().all(|audience| *audience == client_id) => Ok(()),
        None => Err(refused("it is for several clients and does not say to which it was issued")),
    }
}

/// Checks `exp`, `iat` and `nbf` (RFC 7519, section 4.1): numbers, or their text, of seconds.
fn check_times(claims: &Map<String, Value>, now: Timestamp) -> Result<(), OidcError> {
    let seconds = |name: &str| match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => Ok(number.as_f64()),
        // The texts of infinity and of no number are numbers to the parser.
        Some(Value::String(text)) => match text.parse::<f64>() {
            Ok(seconds) if seconds.is_finite() => Ok(Some(seconds)),
            _ => Err(refused("a time of it is malformed")),
        },
        Some(_) => Err(refused("a time of it is malformed")),
    };
    let now = now.timestamp() as f64;
    let expiry = seconds("exp")?.ok_or_else(|| refused("it has no `exp`"))?;
    if now >= expiry + CLOCK_SKEW {
        return Err(refused("it has expired"));
    }
    if seconds("iat")?.is_none() {
        return Err(refused("it has no `iat`"));
    }
    match seconds("nbf")? {
        Some(begin) if begin > now + CLOCK_SKEW => Err(refused("it is not valid yet")),
        _ => Ok(()),
    }
}

fn object(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use ring::hmac;
    use serde_json::json;

    use super::*;
    use crate::key_material::KeyMaterial;

    const SECRET: &str = "a client secret of sufficient length";

    fn sign(claims: &Value) -> String {
        sign_with(SECRET.as_bytes(), &json!({"alg": "HS256"}), claims)
    }

    fn sign_with(key: &[u8], header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(header), part(claims));
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes())))
    }

    fn verify_claims(changes: Value) -> Result<IdTokenClaims, OidcError> {
        let mut claims = json!({
            "iss": "https://id.example.com", "aud": "qala", "sub": "1", "iat": 1_000, "exp": 2_000, "nonce": "n",
        });
        if let (Value::Object(claims), Value::Object(changes)) = (&mut claims, changes) {
            claims.extend(changes);
        }
        let secret = SecretString::from(SECRET);
        let expected = Expected {
            issuer: "https://id.example.com",
            client_id: "qala",
            client_secret: Some(&secret),
            nonce: "n",
            now: Timestamp::from_timestamp(1_500, 0).unwrap(),
        };
        verify(&sign(&claims), &[], &expected)
    }

    #[test]
    fn claims_that_are_not_used_may_have_any_type() {
        for changes in [
            json!({"updated_at": "2026-01-02T03:04:05.000Z"}),
            json!({"updated_at": {"seconds": 1}, "birthdate": 1990, "locale": ["en"], "zoneinfo": null}),
            json!({"address": "Almaty", "phone_number": 7, "phone_number_verified": "yes"}),
            json!({"auth_time": "yesterday", "acr": 1, "amr": "pwd", "at_hash": false, "picture": {}}),
            json!({"name": {"given": "A"}, "email": 7}),
            json!({"exp": 2000.5, "iat": "1000"}),
        ] {
            let claims = verify_claims(changes.clone()).unwrap_or_else(|error| panic!("{changes}: {error}"));
            assert_eq!((claims.subject.as_str(), claims.email, claims.name), ("1", None, None), "{changes}");
        }
    }

    #[test]
    fn the_client_must_be_among_the_audiences_and_be_the_party() {
        for (changes, is_accepted) in [
            (json!({"aud": ["qala"]}), true),
            (json!({"aud": ["qala", "project-7"], "azp": "qala"}), true),
            (json!({"aud": ["project-7", "qala", 7], "azp": "qala"}), true),
            (json!({"aud": "qala", "azp": "qala"}), true),
            (json!({"aud": "qala", "azp": null}), true),
            (json!({"aud": ["qala", "project-7"]}), false),
            (json!({"aud": ["qala", "project-7"], "azp": "project-7"}), false),
            (json!({"aud": "qala", "azp": "project-7"}), false),
            (json!({"aud": "qala", "azp": 7}), false),
            (json!({"aud": ["project-7"], "azp": "qala"}), false),
            (json!({"aud": {"qala": true}}), false),
            (json!({"aud": null}), false),
        ] {
            assert_eq!(verify_claims(changes.clone()).is_ok(), is_accepted, "{changes}");
        }
    }

    #[test]
    fn a_token_is_valid_between_its_times_only() {
        for (changes, is_accepted) in [
            (json!({"exp": 1_450}), true),
            (json!({"exp": 1_440}), false),
            (json!({"nbf": 1_560}), true),
            (json!({"nbf": 1_561}), false),
            (json!({"nbf": 5_100}), false),
            (json!({"exp": null}), false),
            (json!({"exp": "soon"}), false),
            (json!({"exp": "inf"}), false),
            (json!({"nbf": "NaN"}), false),
            (json!({"exp": [2_000]}), false),
            (json!({"iat": null}), false),
            (json!({"nbf": "soon"}), false),
        ] {
            assert_eq!(verify_claims(changes.clone()).is_ok(), is_accepted, "{changes}");
        }
    }

    #[test]
    fn nobody_is_named_by_an_empty_subject() {
        for subject in [json!(""), json!("  "), json!(null), json!(7), json!("a\nb"), json!("x".repeat(256))]
        {
            assert!(verify_claims(json!({"sub": subject})).is_err(), "{subject}");
        }
        assert!(verify_claims(json!({"sub": "x".repeat(255)})).is_ok());
    }

    /// Checks that nothing public works as a secret (RFC 8725, section 2.1).
    #[test]
    fn no_public_key_is_taken_for_a_secret() {
        let claims = json!({
            "iss": "https://id.example.com", "aud": "qala", "sub": "1", "iat": 1_000, "exp": 2_000, "nonce": "n",
        });
        let (n, point, x) = (vec![9; 256], [&[4][..], &[7; 64]].concat(), vec![7; 32]);
        let materials = [
            KeyMaterial::Rsa { n: n.clone(), e: vec![1, 0, 1] },
            KeyMaterial::P256(point.clone()),
            KeyMaterial::Ed25519(x.clone()),
        ];
        let secret = SecretString::from(SECRET);
        for algorithm in [None, Some("HS256"), Some("RS256")] {
            let keys: Vec<VerificationKey> = materials
                .iter()
                .map(|material| VerificationKey {
                    id: Some("1".to_owned()),
                    algorithm: algorithm.map(str::to_owned),
                    material: material.clone(),
                })
                .collect();
            for client_secret in [None, Some(&secret)] {
                let expected = Expected {
                    issuer: "https://id.example.com",
                    client_id: "qala",
                    client_secret,
                    nonce: "n",
                    now: Timestamp::from_timestamp(1_500, 0).unwrap(),
                };
                for key in [&n, &point, &x, &Vec::new()] {
                    for header in [json!({"alg": "HS256"}), json!({"alg": "HS256", "kid": "1"})] {
                        assert!(
                            verify(&sign_with(key, &header, &claims), &keys, &expected).is_err(),
                            "{header}"
                        );
                    }
                }
                let signed = sign_with(SECRET.as_bytes(), &json!({"alg": "HS256", "kid": "1"}), &claims);
                assert_eq!(verify(&signed, &keys, &expected).is_ok(), client_secret.is_some());
                for other in ["RS256", "ES256", "EdDSA", "HS384", "HS512", "hs256", "none"] {
                    let signed = sign_with(SECRET.as_bytes(), &json!({"alg": other}), &claims);
                    assert!(verify(&signed, &keys, &expected).is_err(), "{other}");
                }
            }
        }
    }

    #[test]
    fn other_signatures_are_refused() {
        let expected = |client_secret| Expected {
            issuer: "https://id.example.com",
            client_id: "qala",
            client_secret,
            nonce: "n",
            now: Timestamp::from_timestamp(1_500, 0).unwrap(),
        };
        let token = sign(&json!({
            "iss": "https://id.example.com", "aud": "qala", "sub": "1", "iat": 1_000, "exp": 2_000, "nonce": "n",
        }));
        let secret = SecretString::from(SECRET);
        assert!(verify(&token, &[], &expected(Some(&secret))).is_ok());
        assert!(verify(&token, &[], &expected(None)).is_err(), "the issuer does not announce it");
        let unsigned = URL_SAFE_NO_PAD.encode(json!({"alg": "none"}).to_string());
        let (_, rest) = token.split_once('.').unwrap();
        let (claims, _) = rest.split_once('.').unwrap();
        for bad in [format!("{unsigned}.{claims}."), format!("{token}x"), claims.to_owned(), String::new()] {
            assert!(verify(&bad, &[], &expected(Some(&secret))).is_err(), "{bad}");
        }
    }
}
