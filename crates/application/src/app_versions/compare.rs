//! Comparing two versions of an app.

use std::time::{Duration, Instant};

use apps::{
    AppVersion,
    manifest::diff::{Difference, diff_manifests},
    versions::{FileDifference, VersionContent, diff_files},
};
use kernel::{authority::AppAccess, id::VersionId};

use crate::{Application, Problem};

/// Time for the smallest diffs of files; after that, they may name more lines than have changed.
const DIFF_TIME: Duration = Duration::from_millis(250);

/// The differences between two versions.
#[derive(Debug)]
pub struct ComparedVersions {
    /// Earlier version.
    pub from: AppVersion,
    /// Later version.
    pub to: AppVersion,
    /// Current version of the app.
    pub current: Option<VersionId>,
    /// Differences between the manifests.
    pub manifest: Vec<Difference>,
    /// Files that differ, by path; none if the files of a version are deleted.
    pub files: Vec<FileDifference>,
}

impl Application {
    /// Compares two versions of an app; without `from`, `to` with the version that was current before it was created, or the
    /// first version with itself.
    ///
    /// # Errors
    /// [`Problem`] if the app has no such version, or the store fails.
    pub async fn version_differences(
        &self,
        access: &AppAccess,
        to: VersionId,
        from: Option<VersionId>,
    ) -> Result<ComparedVersions, Problem> {
        let workspace = access.member().workspace();
        let app =
            self.store().app(workspace, access.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
        let find = async |version: VersionId| -> Result<(AppVersion, VersionContent), Problem> {
            let found = self.store().version(workspace, app.id, version).await?;
            found.ok_or_else(|| Problem::not_found("version"))
        };
        let (to, later) = find(to).await?;
        // The first version has nothing before it, so it differs from nothing.
        let (from, earlier) = find(from.or(to.base).unwrap_or(to.id)).await?;
        let manifest = diff_manifests(&earlier.manifest, &later.manifest);
        // Long files would hold up other requests of this thread.
        // Of files that are deleted nobody can say how they differ.
        let files = if from.is_runnable && to.is_runnable {
            let files = tokio::task::spawn_blocking(move || {
                diff_files(&earlier.files, &later.files, Instant::now() + DIFF_TIME)
            });
            files.await.map_err(Problem::internal)?
        } else {
            Vec::new()
        };
        Ok(ComparedVersions { from, to, current: app.current_version, manifest, files })
    }
}
