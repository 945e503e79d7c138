//! Going back to an earlier version of an app.

use apps::{
    AppError, AppVersion,
    manifest::diff::{Difference, diff_manifests},
    safe_band::{PublishRule, is_confined},
    versions::{Baseline, RollBack, Rollback, VersionContent},
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::{AutomationId, VersionId},
};

use super::{
    consequences::{Consequences, VersionMove},
    earlier::as_unusable,
};
use crate::{Application, Problem, unit};

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
        let earlier = (to, manifest, has_fetch);
        let to = self.measure_earlier_version(ctx, right.member(), earlier, baseline).await?;
        to.check_gains(&ctx.caller, role)?;

        let differences = diff_manifests(&current.manifest, &to.manifest);
        let automations = self.store().automations_of_app(workspace, app).await?;
        let automations: Vec<AutomationId> =
            automations.into_iter().map(|automation| automation.id).collect();
        let secrets = self.store().list_app_secrets(workspace, app).await?;
        let secrets: Vec<String> = secrets.into_iter().map(|secret| secret.secret.name.to_string()).collect();
        let request = RollBack { to, expected_current, detail: None };
        let (rollback, needs_console, consequences) = self
            .transaction(unit!(|tx| {
                let right = self.lock_app::<CanEdit>(tx, ctx, app).await?;
                let moved = VersionMove {
                    from: (&current.manifest, before.number),
                    to: (&request.to.manifest, request.to.version.number),
                    automations: &automations,
                    secrets: &secrets,
                };
                self.republish_version(tx, ctx, &right, request.clone(), &moved).await
            }))
            .await?;
        let to = request.to.version;
        Ok(RolledBackVersion { rollback, to, manifest: differences, needs_console, consequences })
    }
}
