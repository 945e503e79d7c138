//! Types of `projects`.

#![expect(dead_code, reason = "described, never created")]

use serde::{Deserialize, de::IgnoredAny};
use utoipa::ToSchema;

use super::enumeration::enumerations;

enumerations! {
    /// The kind of a project key.
    KeyKind: projects::KeyKind;
    /// A permission of a secret key.
    KeyScope: projects::KeyScope;
}

/// The issuer of the tokens that identify a project's signed-in people.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewIdentityProvider {
    /// Required value of the `iss` claim.
    #[schema(min_length = 1, max_length = 200, example = "https://id.example")]
    issuer: String,
    /// Value that the `aud` claim must contain.
    #[schema(min_length = 1, max_length = 200, example = "shop")]
    audience: String,
    /// Name of the claim that has the person's roles: one text, or an array of texts.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200, default = "role")]
    role_claim: String,
    /// JSON Web Keys (RFC 7517) that tokens are verified with.
    #[schema(min_items = 1, max_items = 8)]
    keys: Vec<JsonWebKey>,
}

/// A JSON Web Key. Unknown members are ignored (RFC 7517, section 4).
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct JsonWebKey {
    /// Key type: `RSA`, `EC` (with `crv` P-256), `OKP` (with `crv` Ed25519), or `oct`.
    #[schema(example = "EC")]
    kty: String,
    /// Key id; at most 200 bytes.
    kid: Option<String>,
    /// Algorithm: RS256, ES256, EdDSA or HS256, the one that goes with the key type.
    alg: Option<String>,
    /// Use of the key; must be `sig` if present.
    #[serde(rename = "use")]
    usage: Option<String>,
    /// Curve of an `EC` or `OKP` key.
    #[schema(example = "P-256")]
    crv: Option<String>,
    /// Modulus of an `RSA` key, 2,048 to 8,192 bits.
    n: Option<String>,
    /// Exponent of an `RSA` key: odd, at least 3 and below 2^32.
    e: Option<String>,
    /// X coordinate of an `EC` key, or the public key of an `OKP` key; 32 bytes in base64url.
    #[schema(example = "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY")]
    x: Option<String>,
    /// Y coordinate of an `EC` key; 32 bytes in base64url.
    #[schema(example = "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU")]
    y: Option<String>,
    /// Bytes of an `oct` key, 32 to 512, in base64url. Omit it to keep the key that is already set under this `kid`.
    #[schema(write_only)]
    k: Option<String>,
    /// Private part of a key, which is refused.
    #[schema(ignore)]
    d: Option<IgnoredAny>,
}
