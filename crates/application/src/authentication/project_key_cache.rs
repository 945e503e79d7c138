//! Project keys that were looked up recently.

use std::{sync::Arc, time::Duration};

use backend_data::{Access, ProjectRef, Scope};
use kernel::token::Digest;
use moka::sync::Cache;
use projects::{KeyKind, KeyScope, Project, ProjectKey};

use super::person_tokens::TrustedIssuer;

/// Time for which a key is cached.
const KEY_CACHE_TTL: Duration = Duration::from_secs(1);
const KEY_CACHE_CAPACITY: u64 = 50_000;

/// A key, with what a request needs of its project's settings.
#[derive(Debug, Clone)]
pub struct ResolvedKey {
    /// Key.
    pub key: ProjectKey,
    /// Project of the key.
    pub project: Project,
    /// Location of the project's rows.
    pub project_ref: ProjectRef,
    /// Access of the key without a person token.
    pub access: Access,
    /// Maximum number of bytes of the project's rows.
    pub max_stored_bytes: u64,
    /// Issuer of the person tokens that the project accepts.
    pub trusted_issuer: Option<TrustedIssuer>,
}

/// Returns the access of a key without a person token.
#[must_use]
pub fn key_access(key: &ProjectKey) -> Access {
    match key.kind {
        KeyKind::Publishable => Access::Visitor,
        KeyKind::Secret => Access::Service {
            scopes: key.scopes.to_vec().into_iter().map(row_scope).collect(),
            tables: key.tables.clone(),
        },
    }
}

fn row_scope(scope: KeyScope) -> Scope {
    match scope {
        KeyScope::RowsRead => Scope::RowsRead,
        KeyScope::RowsWrite => Scope::RowsWrite,
        KeyScope::SchemaWrite => Scope::SchemaWrite,
    }
}

/// Keys that were looked up recently, by their digest.
pub(super) struct ProjectKeyCache(pub(super) Cache<[u8; Digest::LEN], Arc<ResolvedKey>>);

impl Default for ProjectKeyCache {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(KEY_CACHE_CAPACITY).time_to_live(KEY_CACHE_TTL).build())
    }
}

impl ProjectKeyCache {
    /// Removes the matching keys. Entries live for a second and changes are rare, so a scan is cheap.
    pub(super) fn invalidate(&self, is_stale: impl Fn(&ResolvedKey) -> bool) {
        let stale: Vec<_> =
            self.0.iter().filter(|(_, known)| is_stale(known)).map(|(digest, _)| *digest).collect();
        stale.iter().for_each(|digest| self.0.invalidate(digest));
    }
}
