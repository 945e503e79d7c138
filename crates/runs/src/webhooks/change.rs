//! Changing the settings of a webhook.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::{
    ChangeForm, Proof, Webhook,
    audit::{audit_actions, save_with_audit},
    checks::{check_per_minute, form_mode_required, require_webhook_trigger},
};
use crate::{RunsError, RunsTx};

/// What to change without a new secret.
#[derive(Debug, Clone, Default)]
pub struct ChangeWebhook {
    /// Whether it takes calls.
    pub enabled: Option<bool>,
    /// How many calls a minute it takes.
    pub per_minute: Option<u16>,
    /// What a public form asks.
    pub form: Option<ChangeForm>,
}

/// Switches a webhook on or off, or changes its limit.
///
/// # Errors
/// When a field is out of bounds or there is no webhook, or what the store says.
pub async fn change_webhook(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    automation: AutomationId,
    input: ChangeWebhook,
) -> Result<Webhook, RunsError> {
    let workspace = right.member().workspace();
    require_webhook_trigger(tx, right, automation).await?;
    let found = tx.webhook_for_update(workspace, automation).await?;
    let before = found.ok_or(RunsError::WebhookNotFound)?;
    let mut webhook = before.clone();
    webhook.is_enabled = input.enabled.unwrap_or(before.is_enabled);
    webhook.per_minute = input.per_minute.unwrap_or(before.per_minute);
    check_per_minute(webhook.per_minute)?;
    if let Some(change) = input.form {
        let Proof::Form(settings) = &mut webhook.proof else { return Err(form_mode_required()) };
        *settings = settings.apply(change)?;
    }
    let actions = audit_actions(&before, &webhook);
    if actions.is_empty() {
        return Ok(before);
    }
    webhook.updated_at = ctx.now;
    save_with_audit(tx, ctx, &webhook, actions).await?;
    Ok(webhook)
}
