//! Taking an automation away.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use crate::{RunsError, RunsTx};

/// Takes an automation away, with its webhook and what it still had queued; its runs stay as a record.
///
/// # Errors
/// When the automation is gone, or what the store says.
pub async fn delete_automation(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: AutomationId,
) -> Result<(), RunsError> {
    let workspace = right.member().workspace();
    let found = tx.automation_for_update(workspace, id).await?;
    found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;
    tx.delete_automation(workspace, id, ctx.now).await?;
    tx.audit(ctx.audit_entry("automation.delete").workspace(workspace).target(id));
    Ok(())
}
