//! Approving a planned change: the app moves to a version with the planned manifest, and the same code or what a model wrote.

use std::collections::BTreeMap;

use kernel::{
    Caller, Context,
    authority::{AppRight, CanEdit, CanShare, Locked},
    id::ChangeId,
};

use super::{AppUpdate, Change, ChangeOutcome, ChangeState, ChangesTx};
use crate::{
    App, AppError, Manifest, VersionKind,
    access::replace_access,
    apps::{UpdateApp, update_app},
    manifest::diff::widens,
    safe_band::PublishRule,
    versions::{Baseline, BuiltFrom, CreateVersion, Handlers, Publishing, create_version},
};

/// An approval.
#[derive(Debug)]
pub struct Approval<'a> {
    /// Change to approve.
    pub change: ChangeId,
    /// Manifest that the caller was shown.
    pub manifest: &'a Manifest,
    /// Files of the plan's base version. Versions never change, so they were read before the transaction.
    pub files: &'a BTreeMap<String, String>,
    /// Plan's base version, for what the plan gains.
    pub baseline: Baseline,
    /// Handlers of the code that the app will have.
    pub handlers: Option<Handlers>,
    /// Right to share the app, if the caller has it.
    pub can_share: Option<&'a Locked<AppRight<CanShare>>>,
}

/// An approved change.
#[derive(Debug)]
pub struct Approved {
    /// The change, which is live.
    pub change: Change,
    /// The app before the change.
    pub before: App,
    /// The app after the change.
    pub app: App,
    /// Number of its version; none if it has the plan's base version.
    pub version_number: Option<u32>,
}

/// Approves a change of the caller's. The caller of this function makes the changes to automations in the same transaction.
///
/// # Errors
/// * [`AppError::ChangeNotFound`] when the caller planned no such change of this app
/// * [`AppError::ChangeNotOpen`] when it was approved before or has expired
/// * [`AppError::ManifestChanged`] when the manifest is not the planned one
/// * [`AppError::EmptyPlan`] when there is nothing to approve
/// * [`AppError::OutsideBand`] when only a person in the console may approve it
/// * [`AppError::StaleVersion`] when another version is current than the one that the plan starts from
/// * [`AppError::MayNotShare`] when the caller may not share the app, and the plan does
/// * those of [`create_version`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn approve_change(
    tx: &mut dyn ChangesTx,
    ctx: &Context,
    right: &Locked<AppRight<CanEdit>>,
    approval: Approval<'_>,
) -> Result<Approved, AppError> {
    let (workspace, owner) = (right.member().workspace(), right.member().user());
    let found = tx.change_for_update(workspace, owner, approval.change).await?;
    let mut change = found.filter(|change| change.app == right.app()).ok_or(AppError::ChangeNotFound)?;
    check_approval(&change, ctx, approval.manifest)?;
    let plan = &change.plan;
    let mut app = tx.app_for_update(workspace, right.app()).await?.ok_or(AppError::AppNotFound)?;
    if !is_in_console(ctx) {
        // The sharing may have become narrower since the plan was made.
        if plan.app.sharing.is_some_and(|after| widens(app.sharing, after)) {
            return Err(AppError::OutsideBand(Vec::new()));
        }
    }
    if app.current_version != Some(plan.base) {
        return Err(AppError::StaleVersion);
    }
    let before = app.clone();
    let (mut version, mut version_number) = (plan.base, None);
    if plan.manifest != plan.before || plan.planned_by.files().is_some() {
        let input = CreateVersion {
            manifest: plan.manifest.clone(),
            files: plan.planned_by.files().unwrap_or(approval.files).clone(),
            summary: Some(plan.summary.clone()),
            kind: VersionKind::Build,
            built_from: Some(BuiltFrom {
                instruction: plan.instruction.clone(),
                builder: plan.planned_by.builder(),
            }),
            handlers: approval.handlers,
            publishing: Publishing {
                baseline: approval.baseline.clone(),
                rule: PublishRule::Planned,
                inherits_manifest: false,
            },
        };
        let (moved, created) = create_version(tx, ctx, right, input).await?;
        (app, version, version_number) = (moved, created.id, Some(created.number));
    }
    if let Some(updated) = update(tx, ctx, right, &approval, &plan.app).await? {
        app = updated;
    }
    let outcome = ChangeOutcome::Live(version);
    tx.settle_change(change.id, &outcome).await?;
    let detail = serde_json::json!({ "app": app.id, "version": version });
    let entry = ctx.audit_entry("change.approve").workspace(workspace).target(change.id);
    tx.audit(entry.app(app.id).detail(detail));
    change.outcome = Some(outcome);
    Ok(Approved { change, before, app, version_number })
}

/// Checks that a plan is open, that it is what the caller was shown, and that they may approve it where they are.
///
/// # Errors
/// Those of [`approve_change`] that a change and a request lead to.
pub fn check_approval(change: &Change, ctx: &Context, manifest: &Manifest) -> Result<(), AppError> {
    match change.state(ctx.now) {
        ChangeState::Planned => {}
        state => return Err(AppError::ChangeNotOpen(state)),
    }
    let plan = &change.plan;
    if plan.manifest != *manifest {
        return Err(AppError::ManifestChanged);
    }
    if plan.is_empty() {
        return Err(AppError::EmptyPlan);
    }
    if !plan.needs_console.is_empty() && !is_in_console(ctx) {
        return Err(AppError::OutsideBand(plan.needs_console.clone()));
    }
    Ok(())
}

fn is_in_console(ctx: &Context) -> bool {
    matches!(ctx.caller, Caller::Session(_) | Caller::System(_))
}

/// Renames, describes and shares the app as planned.
async fn update(
    tx: &mut dyn ChangesTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    approval: &Approval<'_>,
    planned: &AppUpdate,
) -> Result<Option<App>, AppError> {
    let mut updated = None;
    if planned.name.is_some() || planned.description.is_some() {
        let input =
            UpdateApp { name: planned.name.clone(), description: planned.description.clone(), paused: None };
        updated = Some(update_app(tx, ctx, right, input).await?);
    }
    if let Some(sharing) = planned.sharing {
        let can_share = approval.can_share.ok_or(AppError::MayNotShare)?;
        let grants = tx.grants_of_app(right.member().workspace(), right.app()).await?;
        replace_access(tx, ctx, can_share, sharing, grants).await?;
        if let Some(app) = &mut updated {
            app.sharing = sharing;
        }
    }
    Ok(updated)
}

#[cfg(test)]
mod tests;
