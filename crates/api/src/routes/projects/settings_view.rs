//! A project's settings as they stand on the wire: without the secrets that are in them.

use projects::{IdentityProvider, Settings, SigningKey};
use serde::Serialize;
use utoipa::ToSchema;

/// What a project's data API allows.
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
    /// The largest request body, in KiB.
    #[schema(minimum = 1, maximum = 1_024)]
    max_body_kb: u32,
    /// The sites whose browsers may call.
    #[schema(max_items = 20)]
    allowed_origins: Vec<String>,
    /// Whose tokens tell signed-in people.
    #[schema(required)]
    identity: Option<IdentityView>,
}

/// Whose tokens tell the signed-in people of a project.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IdentityProvider)]
pub(crate) struct IdentityView {
    /// What `iss` must be.
    issuer: String,
    /// What `aud` must hold.
    audience: String,
    /// The claim that holds the role.
    role_claim: String,
    /// The keys, at most 8.
    keys: Vec<KeyView>,
}

/// A JSON Web Key (RFC 7517). Of a symmetric key only `kty`, `kid` and `alg` are shown.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SigningKey)]
struct KeyView {
    /// The key's type.
    kty: String,
    /// The key's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    /// Its algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    alg: Option<String>,
    /// What it is used for.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    usage: Option<String>,
    /// The curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<String>,
    /// The modulus of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    /// The exponent of an RSA key.
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
    /// The point of a curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    /// The point of a curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
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
        let IdentityProvider { issuer, audience, role_claim, keys } = provider;
        Self { issuer, audience, role_claim, keys: keys.into_iter().map(KeyView::from).collect() }
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
