//! Making an automation.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
};

use super::{Automation, AutomationStatus, Trigger};
use crate::{RunsError, RunsTx};

/// What a new automation is to be.
#[derive(Debug, Clone)]
pub struct CreateAutomation {
    /// Its name.
    pub name: String,
    /// What starts it.
    pub trigger: Trigger,
    /// At most so many of its runs at once.
    pub max_concurrency: Option<u16>,
    /// How often a failed run is tried again.
    pub retries: u8,
}

/// Makes an automation of an app the caller can edit; it is active at once.
///
/// # Errors
/// When a field is out of bounds, or what the store says.
pub async fn create_automation(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    input: CreateAutomation,
) -> Result<Automation, RunsError> {
    let mut automation = Automation {
        id: ctx.new_id(),
        workspace: right.member().workspace(),
        app: right.app(),
        name: input.name.trim().to_owned(),
        trigger: input.trigger,
        status: AutomationStatus::Active,
        max_concurrency: input.max_concurrency,
        retries: input.retries,
        next_run_at: None,
        created_by: right.member().user(),
        created_at: ctx.now,
    };
    automation.check_limits()?;
    automation.next_run_at = automation.next_after(ctx.now);
    tx.insert_automation(&automation).await?;
    tx.audit(ctx.audit_entry("automation.create").workspace(automation.workspace).target(automation.id));
    Ok(automation)
}
