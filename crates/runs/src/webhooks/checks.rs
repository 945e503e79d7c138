//! Checks that the use cases of webhooks share.

use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use crate::{InvalidInput, RunsError, RunsTx, TriggerKind};

/// Locks an automation of the app, and returns its trigger, which must be a webhook or a form.
pub(super) async fn require_webhook_trigger(
    tx: &mut dyn RunsTx,
    right: &AppRight<CanEdit>,
    id: AutomationId,
) -> Result<TriggerKind, RunsError> {
    let found = tx.automation_for_update(right.member().workspace(), id).await?;
    let automation = found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;
    match automation.trigger.kind() {
        trigger @ (TriggerKind::Webhook | TriggerKind::Form) => Ok(trigger),
        TriggerKind::Schedule | TriggerKind::Manual | TriggerKind::Event => Err(RunsError::NotAWebhook),
    }
}

/// Checks a limit of calls in a minute: 1 to 600.
pub(super) fn check_per_minute(per_minute: u16) -> Result<(), RunsError> {
    if (1..=600).contains(&per_minute) { Ok(()) } else { Err(InvalidInput::CallsPerMinute.into()) }
}

/// The refusal of form settings in another mode.
pub(super) fn form_mode_required() -> RunsError {
    InvalidInput::FormInOtherMode.into()
}
