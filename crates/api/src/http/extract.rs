//! Extractors: what handlers take from a request.
//! See `docs/decisions/0008-refuse-unknown-fields.md`.

mod form;
mod json;
mod json_error;
mod params;
mod path;
mod payload;
mod spool;

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

pub(crate) use form::{AnonymousForm, Form};
pub(crate) use params::Params;
pub(crate) use path::Path;
pub(crate) use payload::{Payload, read_anonymous_body, read_body, read_body_with};
pub(crate) use spool::Spool;

/// Deserializes a member that is present, even as `null`, to `Some`; with `#[serde(default)]`, an absent member is
/// `None`.
pub(crate) fn deserialize_some<'de, D>(
    deserializer: D,
) -> Result<Option<Box<serde_json::value::RawValue>>, D::Error>
where
    D: Deserializer<'de>,
{
    Deserialize::deserialize(deserializer).map(Some)
}

/// Deserializes a secret, which no other type may hold.
pub(crate) fn deserialize_secret<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SecretString>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(SecretString::from))
}

/// Deserializes a secret that must be there.
pub(crate) fn deserialize_required_secret<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<SecretString, D::Error> {
    Ok(String::deserialize(deserializer)?.into())
}
