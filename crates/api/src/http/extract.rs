//! Extractors: what handlers take from a request.
//! See `docs/decisions/0008-refuse-unknown-fields.md`.

mod form;
mod json;
mod params;
mod path;
mod payload;
mod spool;

pub(crate) use form::Form;
pub(crate) use params::Params;
pub(crate) use path::Path;
pub(crate) use payload::{Payload, read_body};
pub(crate) use spool::Spool;

/// Deserializes a member that is present, even as `null`, to `Some`; with `#[serde(default)]`, an absent member is
/// `None`.
pub(crate) fn deserialize_some<'de, D>(
    deserializer: D,
) -> Result<Option<Box<serde_json::value::RawValue>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    serde::Deserialize::deserialize(deserializer).map(Some)
}
