//! Types of `projects`.

#![expect(dead_code, reason = "described, never created")]

use std::collections::BTreeMap;

use serde::Deserialize;
#[cfg(test)]
use serde::de::IgnoredAny;
use serde_json::Value;
use utoipa::ToSchema;

use super::enumeration::enumerations;

enumerations! {
    /// The kind of a project key.
    KeyKind: projects::KeyKind;
    /// A permission of a secret key.
    KeyScope: projects::KeyScope;
    /// The reason why a key of a set was left out: `use` or `key_ops` of another use than signatures; a type, curve or
    /// algorithm that is not supported; a member that is missing or malformed; a key that stands before it; a symmetric key
    /// without `k` of which the project has none.
    IgnoredKeyReason: projects::identity_provider::IgnoredKeyReason;
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
    /// Claim that has the person's roles, one text or an array of texts: its name, or a path such as
    /// `realm_access.roles` where no claim has that very name.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200, default = "role")]
    role_claim: String,
    /// Names under which rules find claims, and the names or paths of these claims in tokens; at most 32. A name has 1 to 32
    /// lower-case letters, digits and `_`, a path 1 to 200 characters.
    #[serde(default)]
    #[schema(example = json!({"org": "https://corp.example/org", "team": "app_metadata.team"}))]
    claims: BTreeMap<String, String>,
    /// JSON Web Keys (RFC 7517) of the issuer: `kty` RSA, EC with `crv` P-256, OKP with `crv` Ed25519, or oct; `kid` of at most
    /// 200 bytes; `alg` RS256, ES256, EdDSA or HS256; `n` and `e`, `x` and `y`, or `k`. `use` is `sig` and `key_ops` has
    /// `verify`, where they are present. An `oct` key without `k` keeps the one that is set under its `kid`. Those that verify
    /// no tokens are left out (`ignoredKeys`); of the others, a project takes 8.
    #[schema(min_items = 1, max_items = 100, value_type = Vec<Object>)]
    keys: Vec<Value>,
}

/// A JSON Web Key. Unknown members are ignored (RFC 7517, section 4).
#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(crate) struct JsonWebKey {
    /// Key type: `RSA`, `EC` (with `crv` P-256), `OKP` (with `crv` Ed25519), or `oct`.
    kty: String,
    /// Key id; at most 200 bytes.
    kid: Option<String>,
    /// Algorithm: RS256, ES256, EdDSA or HS256, the one that goes with the key type.
    alg: Option<String>,
    /// Use of the key; must be `sig` if present.
    #[serde(rename = "use")]
    usage: Option<String>,
    /// Operations of the key; must contain `verify` if present.
    key_ops: Option<Vec<String>>,
    /// Curve of an `EC` or `OKP` key.
    crv: Option<String>,
    /// Modulus of an `RSA` key, 2,048 to 8,192 bits.
    n: Option<String>,
    /// Exponent of an `RSA` key: odd, at least 3 and below 2^32.
    e: Option<String>,
    /// X coordinate of an `EC` key, or the public key of an `OKP` key; 32 bytes in base64url.
    x: Option<String>,
    /// Y coordinate of an `EC` key; 32 bytes in base64url.
    y: Option<String>,
    /// Bytes of an `oct` key, 32 to 512, in base64url. Omit it to keep the key that is already set under this `kid`.
    k: Option<String>,
    /// Private part of a key, which is refused.
    d: Option<IgnoredAny>,
}
