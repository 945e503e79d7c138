//! Project keys as callers of the data API.
//!
//! A key is cached for one second. A revocation on another node takes effect within that time, one on this node at
//! once.

use std::{sync::Arc, time::Duration};

use backend_data::{Access, ProjectRef, Scope};
use kernel::{
    Timestamp,
    id::{ProjectId, ProjectKeyId, WorkspaceId},
    token::{self, Digest, TokenKind},
    vault::Vault,
};
use moka::sync::Cache;
use projects::{KeyKind, KeyScope, Project, ProjectKey};

use super::person_tokens::TrustedIssuer;
use crate::{Application, Problem, sample_data};

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

impl ResolvedKey {
    fn new(key: ProjectKey, project: Project, max_stored_bytes: u64, vault: &Vault) -> Result<Self, Problem> {
        let project_ref = sample_data::project_ref(project.id, project.shard)?;
        let access = key_access(&key);
        let provider = project.settings.identity.as_ref();
        let trusted_issuer = provider.map(|provider| TrustedIssuer::new(provider, vault, project.id));
        Ok(Self { key, project, project_ref, access, max_stored_bytes, trusted_issuer })
    }
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
pub(super) struct ProjectKeyCache(Cache<[u8; Digest::LEN], Arc<ResolvedKey>>);

impl Default for ProjectKeyCache {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(KEY_CACHE_CAPACITY).time_to_live(KEY_CACHE_TTL).build())
    }
}

impl ProjectKeyCache {
    /// Removes the matching keys. Entries live for a second and changes are rare, so a scan is cheap.
    fn invalidate(&self, is_stale: impl Fn(&ResolvedKey) -> bool) {
        let stale: Vec<_> =
            self.0.iter().filter(|(_, known)| is_stale(known)).map(|(digest, _)| *digest).collect();
        stale.iter().for_each(|digest| self.0.invalidate(digest));
    }
}

impl Application {
    /// Returns the project key with this text, and records its use.
    ///
    /// # Errors
    /// 401 `unauthorized`, with the same text for a malformed, unknown or revoked key; a [`Problem`] if the store
    /// fails.
    pub async fn project_key(&self, text: &str, now: Timestamp) -> Result<Arc<ResolvedKey>, Problem> {
        if !matches!(token::detect_kind(text), Some(TokenKind::PublishableKey | TokenKind::SecretKey)) {
            return Err(Problem::unauthorized());
        }
        let digests: Vec<Digest> = self.peppers().candidate_digests(text).collect();
        let cache = &self.credential_cache().keys.0;
        let known = match digests.iter().find_map(|digest| cache.get(digest.as_bytes())) {
            Some(known) => known,
            None => {
                let known = self.load_key(&digests).await?.ok_or_else(Problem::unauthorized)?;
                if let Some(digest) = digests.first() {
                    cache.insert(*digest.as_bytes(), Arc::clone(&known));
                }
                known
            }
        };
        if known.key.revoked_at.is_some() {
            return Err(Problem::unauthorized());
        }
        self.credential_cache().last_used.record_key(known.key.id, now);
        Ok(known)
    }

    /// Removes a key from the cache, after it was revoked on this node.
    pub fn invalidate_project_key(&self, key: ProjectKeyId) {
        self.credential_cache().keys.invalidate(|known| known.key.id == key);
    }

    /// Removes the keys of a project from the cache, after its settings were changed on this node.
    pub fn invalidate_project(&self, project: ProjectId) {
        self.credential_cache().keys.invalidate(|known| known.project.id == project);
    }

    async fn load_key(&self, digests: &[Digest]) -> Result<Option<Arc<ResolvedKey>>, Problem> {
        let Some(key) = self.store().project_key_by_digest(digests).await? else { return Ok(None) };
        let Some(project) = self.store().project_by_key(key.project).await? else { return Ok(None) };
        let max_stored_bytes = self.max_stored_bytes(project.workspace).await?;
        let known = ResolvedKey::new(key, project, max_stored_bytes, self.vault())?;
        Ok(Some(Arc::new(known)))
    }

    /// Returns the maximum number of bytes for the rows of a project in this workspace.
    ///
    /// # Errors
    /// 404 `workspace_not_found` if the workspace does not exist; a [`Problem`] if the store fails.
    pub async fn max_stored_bytes(&self, workspace: WorkspaceId) -> Result<u64, Problem> {
        let found =
            self.store().workspace(workspace).await?.ok_or_else(|| Problem::not_found("workspace"))?;
        Ok(found.plan.limits().stored_bytes_per_project)
    }
}
