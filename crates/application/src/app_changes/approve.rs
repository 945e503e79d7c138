//! Approving a planned change.

use apps::{
    Manifest,
    changes::{
        Approval, Approved, AutomationChange, Change, ChangeEffects, PlanEffect, approve_change,
        check_approval, fail_change,
    },
    safe_band::PublishRule,
    versions::{Baseline, Publishing, VersionContent},
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit, CanShare},
    id::ChangeId,
};
use runs::{
    AutomationStatus, Trigger,
    automations::{
        CreateAutomation, UpdateAutomation, create_automation, schedule::Schedule, update_automation,
    },
};

use crate::{
    Application, Problem, ProblemKind, Tx,
    app_versions::{check_code, create_gates, recheck_projects, schedule_state},
    unit,
};

impl Application {
    /// Approves a change that the caller planned; `manifest` is the one that they were shown. Returns the change as live or,
    /// if what it needs is gone, as failed.
    ///
    /// # Errors
    /// [`Problem`] if there is no such plan of the caller's, it is not open, the manifest is another one, the app moved on,
    /// the caller may not approve it, or the store fails.
    pub async fn approve_change(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        id: ChangeId,
        manifest: &Manifest,
    ) -> Result<Change, Problem> {
        let (workspace, owner) = (right.member().workspace(), right.member().user());
        let missing = || Problem::not_found("change");
        let change = self.store().change(workspace, owner, id).await?.ok_or_else(missing)?;
        check_approval(&change, ctx, manifest)?;
        let base = self.store().version(workspace, change.app, change.plan.base).await?;
        let (base, VersionContent { files, manifest: before }) = base.ok_or_else(missing)?;
        let planned = &change.plan.manifest;
        let approved = async {
            // A planner without a model keeps the code, and with it its handlers. Code that was not checked may answer visitors.
            let mut handlers = base.handlers;
            let mut had_fetch = handlers.is_none_or(|handlers| handlers.fetch);
            if let Some(written) = change.plan.planned_by.files() {
                had_fetch = self.has_fetch(ctx, &base, &files).await?;
                handlers = Some(check_code(self, ctx, workspace, written).await?);
            }
            let baseline = Baseline::of(&base, before.clone(), had_fetch);
            let publishing = Publishing { baseline, rule: PublishRule::Planned, inherits_manifest: false };
            self.check_permissions(ctx, right.member(), planned, &publishing).await?;
            self.transaction(unit!(|tx| {
                let right = self.lock_app::<CanEdit>(tx, ctx, right.app()).await?;
                let can_share = match change.plan.app.sharing {
                    Some(_) => Some(self.lock_app::<CanShare>(tx, ctx, right.app()).await?),
                    None => None,
                };
                recheck_projects(tx, right.member(), planned, &publishing.baseline).await?;
                let approval = Approval {
                    change: id,
                    manifest,
                    files: &files,
                    baseline: publishing.baseline.clone(),
                    handlers,
                    can_share: can_share.as_ref(),
                };
                let approved = approve_change(tx, ctx, &right, approval).await?;
                create_gates(self, tx, ctx, right.member(), &approved.change.plan.manifest).await?;
                let mut effects = app_effects(&approved);
                for automation in &approved.change.plan.automations {
                    effects.extend(change_automation(tx, ctx, &right, automation).await?);
                }
                if !effects.is_empty() {
                    let version_number = approved.version_number.unwrap_or(base.number);
                    let effects = ChangeEffects { change: id, version_number, effects };
                    tx.insert_change_effects(workspace, right.app(), &effects, ctx.now).await?;
                }
                Ok::<_, Problem>(approved.change)
            }))
            .await
        };
        match approved.await {
            // What the plan needs is gone: no repetition of the request helps.
            Err(problem) if is_lasting(&problem) => {
                let message = problem.message.to_string();
                Ok(self
                    .transaction(unit!(|tx| {
                        let right = self.lock_app::<CanEdit>(tx, ctx, right.app()).await?;
                        Ok::<_, Problem>(fail_change(tx, ctx, &right, id, message.clone()).await?)
                    }))
                    .await?)
            }
            other => other,
        }
    }
}

fn is_lasting(problem: &Problem) -> bool {
    let is_about_the_change = matches!(&*problem.code, "change_not_found" | "app_not_found");
    matches!(problem.kind, ProblemKind::Invalid | ProblemKind::NotFound) && !is_about_the_change
}

async fn change_automation(
    tx: &mut dyn Tx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    change: &AutomationChange,
) -> Result<Option<PlanEffect>, Problem> {
    let schedule = |cron: &str, timezone: &str| Schedule::parse(cron, Some(timezone)).map(Trigger::Schedule);
    let (id, update) = match change {
        AutomationChange::CreateSchedule { name, cron, timezone } => {
            let trigger = schedule(cron, timezone)?;
            let input = CreateAutomation { name: name.clone(), trigger, max_concurrency: None, retries: 0 };
            create_automation(tx, ctx, right, input).await?;
            return Ok(None);
        }
        AutomationChange::Reschedule { id, cron, timezone, activate } => {
            let trigger = Some(schedule(cron, timezone)?);
            let status = activate.then_some(AutomationStatus::Active);
            (id, UpdateAutomation { trigger, status, ..UpdateAutomation::default() })
        }
        AutomationChange::PauseSchedule { id } => {
            let status = Some(AutomationStatus::Paused);
            (id, UpdateAutomation { status, ..UpdateAutomation::default() })
        }
        AutomationChange::Retries { id, retries, .. } => {
            (id, UpdateAutomation { retries: Some(*retries), ..UpdateAutomation::default() })
        }
    };
    let before = tx.automation_for_update(right.member().workspace(), *id).await?;
    let after = update_automation(tx, ctx, right, *id, update).await?;
    let Some(before) = before else { return Ok(None) };
    let automation = *id;
    Ok(match (schedule_state(&before), schedule_state(&after)) {
        (Some(before), Some(after)) if before != after => {
            Some(PlanEffect::Schedule { automation, before, after })
        }
        _ if before.retries != after.retries => {
            Some(PlanEffect::Retries { automation, before: before.retries, after: after.retries })
        }
        _ => None,
    })
}

/// Returns what an approved plan did to the app itself.
fn app_effects(approved: &Approved) -> Vec<PlanEffect> {
    let (before, after) = (&approved.before, &approved.app);
    let mut effects = Vec::new();
    if before.sharing != after.sharing {
        effects.push(PlanEffect::Sharing { before: before.sharing, after: after.sharing });
    }
    if before.name != after.name {
        effects.push(PlanEffect::Name { before: before.name.clone(), after: after.name.clone() });
    }
    effects
}
