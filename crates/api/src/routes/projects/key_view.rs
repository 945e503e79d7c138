//! Project keys on the wire, without their values.

use application::{Problem, Tx};
use chrono::{DateTime, Utc};
use kernel::id::{ProjectKeyId, UserId};
use projects::{KeyKind, KeyScope, ProjectAccess, ProjectKey};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::{
    conditional::{Representation, TaggedItem},
    schemas,
};

/// A key for a project's data API.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectKey)]
pub(crate) struct KeyRecord {
    id: ProjectKeyId,
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    #[schema(value_type = schemas::projects::KeyKind)]
    kind: KeyKind,
    /// Beginning of the key's value.
    prefix: String,
    /// Last four characters of the key's value.
    #[schema(min_length = 4, max_length = 4)]
    last4: String,
    /// Scopes of a secret key; empty for a publishable key, which the policies of tables restrict.
    #[schema(max_items = 3, value_type = Vec<schemas::projects::KeyScope>)]
    scopes: Vec<KeyScope>,
    /// Tables to which a secret key is restricted; null for all tables.
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
    /// Entity tag. Send it in `If-Match` with a change, to change only what you have seen.
    #[schema(pattern = "^\"[0-9a-f]{32}\"$")]
    etag: String,
}

impl Representation for KeyRecord {
    const COMPUTED: &'static [&'static str] = &["etag", "lastUsedAt"];
}

impl TaggedItem for KeyRecord {
    fn etag_mut(&mut self) -> &mut String {
        &mut self.etag
    }
}

impl KeyRecord {
    /// Returns a key of a project, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `key_not_found` if there is none; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        access: &ProjectAccess,
        key: ProjectKeyId,
    ) -> Result<Option<Self>, Problem> {
        let found = tx.project_key_for_update(access.member().workspace(), access.project(), key).await?;
        Ok(Some(found.ok_or_else(|| Problem::not_found("key"))?.into()))
    }
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
            etag: String::new(),
        }
    }
}
