//! Project keys as callers of the data API.
//!
//! A key is cached for one second. A revocation on another node takes effect within that time, one on this node at
//! once.

use std::sync::Arc;

use backend_data::ProjectRef;
use kernel::{
    Timestamp,
    id::{ProjectId, ProjectKeyId, WorkspaceId},
    token::{self, Digest, TokenKind},
    vault::Vault,
};
use projects::{Project, ProjectKey};

use super::{
    person_tokens::TrustedIssuer,
    project_key_cache::{ResolvedKey, key_access},
};
use crate::{Application, Problem};

fn resolve(
    key: ProjectKey,
    project: Project,
    project_ref: ProjectRef,
    max_stored_bytes: u64,
    vault: &Vault,
) -> ResolvedKey {
    let access = key_access(&key);
    let provider = project.settings.identity.as_ref();
    let trusted_issuer = provider.map(|provider| TrustedIssuer::new(provider, vault, project.id));
    ResolvedKey { key, project, project_ref, access, max_stored_bytes, trusted_issuer }
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

    /// Removes the keys of all projects of a workspace from the cache, after it was deleted on this node.
    pub fn invalidate_projects_of(&self, workspace: WorkspaceId) {
        self.credential_cache().keys.invalidate(|known| known.project.workspace == workspace);
    }

    async fn load_key(&self, digests: &[Digest]) -> Result<Option<Arc<ResolvedKey>>, Problem> {
        let Some(key) = self.store().project_key_by_digest(digests).await? else { return Ok(None) };
        let Some(project) = self.store().project_by_key(key.project).await? else { return Ok(None) };
        let max_stored_bytes = self.max_stored_bytes(project.workspace).await?;
        let project_ref = self.project_ref(&project).await?;
        Ok(Some(Arc::new(resolve(key, project, project_ref, max_stored_bytes, self.vault()))))
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
