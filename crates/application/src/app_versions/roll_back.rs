//! Going back to an earlier version of an app.

use apps::{
    AppError, AppVersion,
    manifest::diff::{Difference, diff_manifests},
    versions::{RollBack, Rollback, VersionContent},
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::VersionId,
};

use super::{check_connectors, check_projects, create_gates};
use crate::{Application, Problem, ProblemKind, unit};

/// A move to another version.
#[derive(Debug)]
pub struct RolledBackVersion {
    /// The move.
    pub rollback: Rollback,
    /// Version that is current now.
    pub to: AppVersion,
    /// Differences between the manifests, from the version before to the one that is current now.
    pub manifest: Vec<Difference>,
    /// Steps that an admin has to take in the console before the app can use everything in its manifest.
    pub needs_console: Vec<String>,
}

impl Application {
    /// Makes a version of an app current if `expected_current` is. The caller must be allowed to give the app what the
    /// version has and the current one does not: its projects and connections.
    ///
    /// # Errors
    /// [`Problem`] if the app has no such version, another version is current, the version cannot be used any more, the
    /// caller may not give the app what it has, or the store fails.
    pub async fn roll_back_version(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        to: VersionId,
        expected_current: VersionId,
    ) -> Result<RolledBackVersion, Problem> {
        let (workspace, app) = (right.member().workspace(), right.app());
        let found = self.store().version(workspace, app, to).await?;
        let (to, VersionContent { manifest, .. }) = found.ok_or_else(|| Problem::not_found("version"))?;
        let current = self.store().version(workspace, app, expected_current).await?;
        let (_, current) = current.ok_or(AppError::StaleVersion)?;
        let granted = &current.manifest.permissions;
        let usable = async {
            check_projects(self, ctx, workspace, &manifest, &granted.data).await?;
            check_connectors(self, ctx, right.member(), &manifest, &granted.connectors).await
        };
        usable.await.map_err(as_unusable)?;

        let differences = diff_manifests(&current.manifest, &manifest);
        let request = RollBack { to, manifest, expected_current };
        let (rollback, needs_console) = self
            .transaction(unit!(|tx| {
                let needs_console = create_gates(self, tx, ctx, right.member(), &request.manifest).await?;
                let (_, rollback) = apps::versions::roll_back(tx, ctx, right, request.clone()).await?;
                Ok::<_, Problem>((rollback, needs_console))
            }))
            .await?;
        Ok(RolledBackVersion { rollback, to: request.to, manifest: differences, needs_console })
    }
}

/// The version was allowed once: what is wrong with it now is no mistake in the request.
fn as_unusable(problem: Problem) -> Problem {
    match problem.kind {
        ProblemKind::Invalid | ProblemKind::NotFound => {
            let message = format!("The version cannot be used any more: {}", problem.message);
            Problem::conflict("version_unusable", message)
                .hint("Create a version from its files with a manifest that fits.")
        }
        _ => problem,
    }
}
