//! Passkeys on the wire.

use chrono::{DateTime, Utc};
use identity::passkeys::Passkey;
use kernel::id::PasskeyId;
use serde::Serialize;
use utoipa::ToSchema;

/// A passkey.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Passkey)]
pub(crate) struct PasskeyView {
    id: PasskeyId,
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_used_at: Option<DateTime<Utc>>,
}

impl From<Passkey> for PasskeyView {
    fn from(passkey: Passkey) -> Self {
        let Passkey { id, name, created_at, last_used_at, .. } = passkey;
        Self { id, name, created_at, last_used_at }
    }
}
