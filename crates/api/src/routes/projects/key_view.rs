//! A key as it stands on the wire; never its value.

use chrono::{DateTime, Utc};
use kernel::id::{ProjectKeyId, UserId};
use projects::{KeyKind, KeyScope, ProjectKey};
use serde::Serialize;
use utoipa::ToSchema;

/// A key to a project's data API.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectKey)]
pub(crate) struct KeyRecord {
    id: ProjectKeyId,
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    kind: KeyKind,
    /// What its value begins with.
    prefix: String,
    /// What its value ends with.
    #[schema(min_length = 4, max_length = 4)]
    last4: String,
    /// What a secret key may be used for; none of a publishable one, which the tables' rules limit.
    #[schema(max_items = 3)]
    scopes: Vec<KeyScope>,
    /// The only tables a secret key may use; null for all.
    #[schema(required, max_items = 64)]
    tables: Option<Vec<String>>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    created_by: UserId,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_used_at: Option<DateTime<Utc>>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    revoked_at: Option<DateTime<Utc>>,
}

impl From<ProjectKey> for KeyRecord {
    fn from(key: ProjectKey) -> Self {
        Self {
            id: key.id,
            name: key.name,
            kind: key.kind,
            prefix: key.hint.prefix,
            last4: key.hint.last4,
            scopes: key.scopes.to_vec(),
            tables: key.tables,
            created_at: key.created_at,
            created_by: key.created_by,
            last_used_at: key.last_used_at,
            revoked_at: key.revoked_at,
        }
    }
}
