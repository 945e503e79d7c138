//! Approving a planned change.

use apps::{
    Manifest,
    changes::{Approval, AutomationChange, Change, approve_change, check_approval, fail_change},
    versions::VersionContent,
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
    app_versions::{check_code, check_connectors, check_projects, create_gates},
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
        let (_, VersionContent { files, .. }) = base.ok_or_else(missing)?;
        let can_share = (**right).clone().require::<CanShare>().ok();
        let planned = &change.plan.manifest;
        let granted = &change.plan.before.permissions;
        let approved = async {
            check_projects(self, ctx, workspace, planned, &granted.data).await?;
            check_connectors(self, ctx, right.member(), planned, &granted.connectors).await?;
            if let Some(files) = change.plan.planned_by.files() {
                check_code(self, ctx, workspace, files).await?;
            }
            self.transaction(unit!(|tx| {
                let approval =
                    Approval { change: id, manifest, files: &files, can_share: can_share.as_ref() };
                let approved = approve_change(tx, ctx, right, approval).await?;
                create_gates(self, tx, ctx, right.member(), &approved.change.plan.manifest).await?;
                for automation in &approved.change.plan.automations {
                    change_automation(tx, ctx, right, automation).await?;
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
                    .transaction(unit!(|tx| fail_change(tx, ctx, right, id, message.clone()).await))
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
) -> Result<(), Problem> {
    let schedule = |cron: &str, timezone: &str| Schedule::parse(cron, Some(timezone)).map(Trigger::Schedule);
    let (id, update) = match change {
        AutomationChange::CreateSchedule { name, cron, timezone } => {
            let trigger = schedule(cron, timezone)?;
            let input = CreateAutomation { name: name.clone(), trigger, max_concurrency: None, retries: 0 };
            create_automation(tx, ctx, right, input).await?;
            return Ok(());
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
        AutomationChange::Retries { id, retries } => {
            (id, UpdateAutomation { retries: Some(*retries), ..UpdateAutomation::default() })
        }
    };
    update_automation(tx, ctx, right, *id, update).await?;
    Ok(())
}
