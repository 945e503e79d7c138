//! Settings of a backend project on the wire, without secrets.

use std::collections::BTreeMap;

use projects::{
    IdentityProvider, Settings, SigningKey,
    identity_provider::{IgnoredKey, IgnoredKeyReason},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::schemas;

/// The settings of a project's data API.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Settings)]
pub(crate) struct SettingsView {
    /// Requests per minute with one key.
    #[schema(minimum = 10, maximum = 100_000)]
    rate_limit_per_min: u32,
    /// Requests per minute from one address.
    #[schema(minimum = 10, maximum = 100_000)]
    ip_rate_per_min: u32,
    /// Maximum size of a request body, in KiB.
    #[schema(minimum = 1, maximum = 1_024)]
    max_body_kb: u32,
    /// Origins whose pages may call the data API.
    #[schema(max_items = 20)]
    allowed_origins: Vec<String>,
    /// Issuer of the person tokens that the project accepts.
    #[schema(required)]
    identity: Option<IdentityView>,
}

/// The issuer of a project's person tokens.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IdentityProvider)]
pub(crate) struct IdentityView {
    /// Required value of `iss`.
    issuer: String,
    /// Value that `aud` must contain.
    audience: String,
    /// Name or path of the claim with the roles.
    role_claim: String,
    /// Names under which rules find claims, and the names or paths of these claims in tokens.
    claims: BTreeMap<String, String>,
    /// Keys of the issuer; at most 8.
    keys: Vec<KeyView>,
}

/// A JSON Web Key (RFC 7517). Of a symmetric key, only `kty`, `kid` and `alg` are returned.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SigningKey)]
struct KeyView {
    /// Key type.
    kty: String,
    /// Key id.
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    /// Algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    alg: Option<String>,
    /// Use of the key.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    usage: Option<String>,
    /// Curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<String>,
    /// Modulus of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    /// Exponent of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
    /// X coordinate of the point of an elliptic curve key.
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    /// Y coordinate of the point of an elliptic curve key.
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
}

/// A key of a set that verifies no tokens, and was left out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IgnoredKey)]
pub(crate) struct IgnoredKeyView {
    /// Key id; null if the key has none.
    #[schema(required)]
    kid: Option<String>,
    #[schema(value_type = schemas::projects::IgnoredKeyReason)]
    reason: IgnoredKeyReason,
}

impl From<IgnoredKey> for IgnoredKeyView {
    fn from(IgnoredKey { kid, reason }: IgnoredKey) -> Self {
        Self { kid, reason }
    }
}

impl From<Settings> for SettingsView {
    fn from(settings: Settings) -> Self {
        let Settings { rate_limit_per_min, ip_rate_per_min, max_body_kb, allowed_origins, identity } =
            settings;
        let identity = identity.map(IdentityView::from);
        Self { rate_limit_per_min, ip_rate_per_min, max_body_kb, allowed_origins, identity }
    }
}

impl From<IdentityProvider> for IdentityView {
    fn from(provider: IdentityProvider) -> Self {
        let IdentityProvider { issuer, audience, role_claim, claims, keys } = provider;
        Self { issuer, audience, role_claim, claims, keys: keys.into_iter().map(KeyView::from).collect() }
    }
}

impl From<SigningKey> for KeyView {
    fn from(key: SigningKey) -> Self {
        let usage = if key.is_symmetric() { None } else { key.usage };
        Self {
            kty: key.kty,
            kid: key.kid,
            alg: key.alg,
            usage,
            crv: key.crv,
            n: key.n,
            e: key.e,
            x: key.x,
            y: key.y,
        }
    }
}
