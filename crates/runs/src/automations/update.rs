//! Changing an automation.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::{Automation, AutomationStatus, Trigger};
use crate::{RunsError, RunsTx};

/// What to change; what is not said stays.
#[derive(Debug, Clone, Default)]
pub struct UpdateAutomation {
    /// A new name.
    pub name: Option<String>,
    /// A new trigger.
    pub trigger: Option<Trigger>,
    /// Whether it starts anything.
    pub status: Option<AutomationStatus>,
    /// At most so many of its runs at once; `Some(None)` lifts the limit.
    pub max_concurrency: Option<Option<u16>>,
    /// How often a failed run is tried again.
    pub retries: Option<u8>,
}

/// Changes an automation of an app the caller can edit.
///
/// # Errors
/// When a field is out of bounds, the automation is gone, or what the store says.
pub async fn update_automation(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: AutomationId,
    input: UpdateAutomation,
) -> Result<Automation, RunsError> {
    let workspace = right.member().workspace();
    let found = tx.automation_for_update(workspace, id).await?;
    let mut automation =
        found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;

    if let Some(name) = input.name {
        automation.name = name.trim().to_owned();
    }
    if let Some(status) = input.status {
        automation.status = status;
    }
    if let Some(max) = input.max_concurrency {
        automation.max_concurrency = max;
    }
    if let Some(retries) = input.retries {
        automation.retries = retries;
    }
    if let Some(trigger) = input.trigger {
        let leaves_webhook = automation.trigger.kind() != trigger.kind();
        if leaves_webhook && tx.webhook_for_update(workspace, id).await?.is_some() {
            return Err(RunsError::invalid(
                "trigger.type",
                "cannot change while the automation has a webhook; make another automation",
            ));
        }
        automation.trigger = trigger;
    }
    automation.check_limits()?;
    automation.next_run_at = automation.next_after(ctx.now);
    tx.update_automation(&automation).await?;
    let action = match input.status {
        Some(AutomationStatus::Paused) => "automation.pause",
        Some(AutomationStatus::Active) => "automation.activate",
        _ => "automation.update",
    };
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(automation.id));
    Ok(automation)
}
