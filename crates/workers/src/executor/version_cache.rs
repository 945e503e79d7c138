//! Caches versions, and the projects that they reach.

use std::{sync::Arc, time::Duration};

use apps::{
    Manifest,
    manifest::{DataAccess, DataPermission},
};
use backend_data::{Access, ProjectRef, Scope};
use kernel::{
    ShareId, StoreError,
    id::{AppId, ProjectId, VersionId, WorkspaceId},
};
use moka::sync::Cache;
use runs::engine::Bundle;

use crate::ExecutorStore;

/// Bytes of source text kept of recently used versions.
const MAX_CACHED_BYTES: u64 = 64 << 20;
/// Maximum number of cached projects.
const MAX_CACHED_PROJECTS: u64 = 10_000;
/// Time for which a cached project's location and plan are used; so long may new invocations reach a deleted one.
const PROJECT_TTL: Duration = Duration::from_secs(1);

/// A version that is ready to run.
#[derive(Debug)]
pub(super) struct LoadedVersion {
    pub(super) bundle: Arc<Bundle>,
    pub(super) manifest: Manifest,
    /// Share whose slots and processor time it takes: that of the person who created the workspace, which never changes.
    pub(super) share: ShareId,
}

/// The rows of a project as `env.data.NAME`, and what the app may do with them.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) project: ProjectRef,
    pub(super) access: Access,
    /// Bytes that the project's rows may take.
    pub(super) max_stored_bytes: u64,
}

/// The workspace and the app are part of the key, so that a version is never found by its id alone.
type VersionKey = (WorkspaceId, AppId, VersionId);

/// Versions and projects that were read lately.
pub(super) struct VersionCache {
    store: Arc<dyn ExecutorStore>,
    versions: Cache<VersionKey, Arc<LoadedVersion>>,
    projects: Cache<(WorkspaceId, ProjectId), (ProjectRef, u64)>,
}

impl VersionCache {
    pub(super) fn new(reads: Arc<dyn ExecutorStore>) -> Self {
        let weight = |_: &VersionKey, content: &Arc<LoadedVersion>| {
            let files: usize =
                content.bundle.files().iter().map(|(path, text)| path.len() + text.len()).sum();
            u32::try_from(files + 4096).unwrap_or(u32::MAX)
        };
        Self {
            store: reads,
            versions: Cache::builder().max_capacity(MAX_CACHED_BYTES).weigher(weight).build(),
            projects: Cache::builder().max_capacity(MAX_CACHED_PROJECTS).time_to_live(PROJECT_TTL).build(),
        }
    }

    /// Returns a version that can run; it is immutable, so it stays cached while there is room.
    pub(super) async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<Arc<LoadedVersion>>, StoreError> {
        let key = (workspace, app, version);
        if let Some(content) = self.versions.get(&key) {
            return Ok(Some(content));
        }
        let found = self.store.version(workspace, app, version).await?;
        let Some((_, content)) = found.filter(|(version, _)| version.is_runnable) else { return Ok(None) };
        let share = ShareId::of(self.store.workspace_creator(workspace).await?, workspace);
        let bundle = Arc::new(Bundle::new(version, content.files));
        let content = Arc::new(LoadedVersion { bundle, manifest: content.manifest, share });
        self.versions.insert(key, Arc::clone(&content));
        Ok(Some(content))
    }

    /// Returns the bindings of a manifest whose projects exist in this workspace.
    pub(super) async fn bindings(
        &self,
        workspace: WorkspaceId,
        manifest: &Manifest,
    ) -> Result<Vec<Binding>, StoreError> {
        let mut bindings = Vec::with_capacity(manifest.permissions.data.len());
        for permission in &manifest.permissions.data {
            if let Some((project, max_stored)) = self.project(workspace, permission.project_id).await? {
                let (name, access) = (permission.name.clone(), access(permission));
                bindings.push(Binding { name, project, access, max_stored_bytes: max_stored });
            }
        }
        Ok(bindings)
    }

    /// Returns a project's location and the bytes it may take. A missing project is not cached.
    async fn project(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Option<(ProjectRef, u64)>, StoreError> {
        let key = (workspace, project);
        if let Some(found) = self.projects.get(&key) {
            return Ok(Some(found));
        }
        let Some(summary) = self.store.project(workspace, project).await? else { return Ok(None) };
        let Ok(id) = project.to_string().parse() else { return Ok(None) };
        let Some(workspace) = self.store.workspace(workspace).await? else { return Ok(None) };
        let max_stored = workspace.plan.limits().stored_bytes_per_project;
        let share = ShareId::of(self.store.workspace_creator(workspace.id).await?, workspace.id);
        let share = backend_data::ShareId(share.uuid().as_u128());
        let found = (ProjectRef::new(id, summary.project.shard).with_share(share), max_stored);
        self.projects.insert(key, found.clone());
        Ok(Some(found))
    }
}

fn access(permission: &DataPermission) -> Access {
    let scopes = match permission.access {
        DataAccess::Read => vec![Scope::RowsRead],
        DataAccess::Write => vec![Scope::RowsRead, Scope::RowsWrite],
    };
    Access::Service { scopes, tables: permission.tables.clone() }
}
