//! What a version is made of, and which projects it reaches, each remembered.

use std::{sync::Arc, time::Duration};

use apps::{
    Manifest,
    manifest::{DataAccess, DataPermission},
};
use backend_data::{Access, ProjectRef, Scope};
use kernel::{
    StoreError,
    id::{AppId, ProjectId, VersionId, WorkspaceId},
};
use moka::sync::Cache;
use runs::engine::Bundle;

use crate::ExecutorStore;

/// Bytes of source text kept of versions that ran lately.
const MAX_CACHED_BYTES: u64 = 64 << 20;
/// Projects remembered.
const MAX_CACHED_PROJECTS: u64 = 10_000;
/// How long a project is believed to be where it was.
const PROJECT_TTL: Duration = Duration::from_secs(5);

/// A version, ready to run.
#[derive(Debug)]
pub(super) struct LoadedVersion {
    pub(super) bundle: Arc<Bundle>,
    pub(super) manifest: Manifest,
}

/// A project's rows as `env.data.NAME`, with what may be done with them.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) name: String,
    pub(super) project: ProjectRef,
    pub(super) access: Access,
    /// How many bytes the project's rows may take.
    pub(super) max_stored_bytes: u64,
}

/// Never found by the version alone: whoever asks names the workspace and the app too.
type VersionKey = (WorkspaceId, AppId, VersionId);

/// What was read before.
pub(super) struct VersionCache {
    store: Arc<dyn ExecutorStore>,
    versions: Cache<VersionKey, Arc<LoadedVersion>>,
    projects: Cache<(WorkspaceId, ProjectId), (ProjectRef, u64)>,
}

impl VersionCache {
    pub(super) fn new(reads: Arc<dyn ExecutorStore>) -> Self {
        let weight = |_: &VersionKey, content: &Arc<LoadedVersion>| {
            let files: usize = content.bundle.files.iter().map(|(path, text)| path.len() + text.len()).sum();
            u32::try_from(files + 4096).unwrap_or(u32::MAX)
        };
        Self {
            store: reads,
            versions: Cache::builder().max_capacity(MAX_CACHED_BYTES).weigher(weight).build(),
            projects: Cache::builder().max_capacity(MAX_CACHED_PROJECTS).time_to_live(PROJECT_TTL).build(),
        }
    }

    /// A version, which never changes once made.
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
        let Some((_, content)) = self.store.version(workspace, app, version).await? else { return Ok(None) };
        let bundle = Arc::new(Bundle { version, files: content.files });
        let content = Arc::new(LoadedVersion { bundle, manifest: content.manifest });
        self.versions.insert(key, Arc::clone(&content));
        Ok(Some(content))
    }

    /// What of a manifest's data is really there: projects of another workspace are not.
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

    /// Where a project's rows are and how many bytes they may take; what is not there is asked for again each time.
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
        let found = (ProjectRef::new(id, summary.project.shard), max_stored);
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
