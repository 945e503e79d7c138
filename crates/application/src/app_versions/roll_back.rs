//! Going back to an earlier version of an app.

use apps::{
    AppError, AppVersion,
    manifest::diff::{Difference, diff_manifests},
    safe_band::{PublishRule, Reach, check_gains, is_confined},
    versions::{Baseline, Publishing, RollBack, Rollback, VersionContent},
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit, Sharing},
    id::{AutomationId, VersionId},
};

use super::consequences::{Consequences, VersionMove};
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
    /// Automations that moved with the version, and what stays.
    pub consequences: Consequences,
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
        let (to, VersionContent { manifest, files }) = found.ok_or_else(|| Problem::not_found("version"))?;
        let current = self.store().version(workspace, app, expected_current).await?;
        let (before, current) = current.ok_or(AppError::StaleVersion)?;
        if !to.is_runnable {
            return Err(AppError::VersionUnusable.into());
        }
        let role = right.member().role();
        // A caller who is not confined is measured by no handler.
        let is_confined = is_confined(&ctx.caller, role, PublishRule::Direct);
        let has_fetch = is_confined && self.has_fetch(ctx, &to, &files).await.map_err(as_unusable)?;
        let had_fetch = has_fetch && self.has_fetch(ctx, &before, &current.files).await?;
        let baseline = Baseline::of(&before, current.manifest.clone(), had_fetch);
        let publishing = Publishing { baseline, rule: PublishRule::Direct, inherits_manifest: false };
        self.check_permissions(ctx, right.member(), &manifest, &publishing).await.map_err(as_unusable)?;
        // The sharing of the app stays, so it is no gain.
        let sharing = Sharing::Private;
        let reach = Reach { manifest: &manifest, trust_score: to.trust_score, has_fetch, sharing };
        let reasons = publishing.baseline.reasons_outside(reach);
        check_gains(&ctx.caller, role, publishing.rule, &reasons)?;

        let differences = diff_manifests(&current.manifest, &manifest);
        let automations = self.store().automations_of_app(workspace, app).await?;
        let automations: Vec<AutomationId> =
            automations.into_iter().map(|automation| automation.id).collect();
        let secrets = self.store().list_app_secrets(workspace, app).await?;
        let secrets: Vec<String> = secrets.into_iter().map(|secret| secret.secret.name.to_string()).collect();
        let request = RollBack { to, manifest, has_fetch, expected_current, publishing, detail: None };
        let (rollback, needs_console, consequences) = self
            .transaction(unit!(|tx| {
                let right = self.lock_app::<CanEdit>(tx, ctx, app).await?;
                let moved = VersionMove {
                    from: (&current.manifest, before.number),
                    to: (&request.manifest, request.to.number),
                    automations: &automations,
                    secrets: &secrets,
                };
                self.republish_version(tx, ctx, &right, request.clone(), &moved).await
            }))
            .await?;
        Ok(RolledBackVersion { rollback, to: request.to, manifest: differences, needs_console, consequences })
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
