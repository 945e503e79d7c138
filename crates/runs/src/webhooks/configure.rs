//! Configuring a webhook: creating it, or changing its mode.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::{
    ChangeForm, CredentialKeys, Proof, ProofMode, Webhook, WebhookWithSecret,
    audit::{audit_actions, save_with_audit},
    checks::{check_per_minute, form_mode_required, require_webhook_trigger},
    credentials::new_proof,
};
use crate::{InvalidInput, RunsError, RunsTx, TriggerKind, WebhookBreakage};

/// Settings of a webhook.
#[derive(Debug, Clone)]
pub struct ConfigureWebhook {
    /// Kind of proof that it demands of senders.
    pub mode: ProofMode,
    /// Most calls in a minute, 1 to 600; by default the current limit, or the default of the mode when a webhook is new
    /// or becomes or ceases to be a form.
    pub per_minute: Option<u16>,
    /// Changes to the settings of a public form; only in the mode `form`.
    pub form: Option<ChangeForm>,
    /// True to confirm a change that removes the proof or replaces the secret.
    pub confirm: bool,
}

/// Creates the webhook of an automation, or changes its mode, which replaces the secret. The same mode keeps the
/// secret.
///
/// # Errors
/// * [`RunsError::AutomationNotFound`] when the app has no such automation
/// * [`RunsError::NotAWebhook`] when the trigger is neither a webhook nor a form
/// * [`RunsError::ConfirmationNeeded`] when the change removes the proof or replaces the secret, and is not confirmed
/// * [`RunsError::InvalidInput`] when a field is out of bounds or does not belong to the mode
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn configure_webhook(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    keys: CredentialKeys<'_>,
    automation: AutomationId,
    input: ConfigureWebhook,
) -> Result<WebhookWithSecret, RunsError> {
    let workspace = right.member().workspace();
    let trigger = require_webhook_trigger(tx, right, automation).await?;
    if trigger == TriggerKind::Form && input.mode != ProofMode::Form {
        return Err(InvalidInput::ProofMode.into());
    }
    let existing = tx.webhook_for_update(workspace, automation).await?;
    let same_mode = existing.as_ref().is_some_and(|webhook| webhook.proof.mode() == input.mode);
    if !input.confirm {
        if input.mode == ProofMode::None && !same_mode {
            return Err(RunsError::ConfirmationNeeded(WebhookBreakage::ProofRemoved));
        }
        if existing.is_some() && !same_mode {
            return Err(RunsError::ConfirmationNeeded(WebhookBreakage::SecretReplaced));
        }
    }
    if input.form.is_some() && input.mode != ProofMode::Form {
        return Err(form_mode_required());
    }
    // The usual limit of a form does not suit the other modes.
    let keeps_limit =
        |webhook: &&Webhook| same_mode || webhook.proof.form().is_none() && input.mode != ProofMode::Form;
    let per_minute = input
        .per_minute
        .or(existing.as_ref().filter(keeps_limit).map(|webhook| webhook.per_minute))
        .unwrap_or_else(|| Webhook::default_per_minute(input.mode));
    check_per_minute(per_minute)?;

    let id = existing.as_ref().map_or_else(|| ctx.new_id(), |webhook| webhook.id);
    let (mut proof, secret) = match existing.as_ref().filter(|_| same_mode) {
        Some(webhook) => (webhook.proof.clone(), None),
        None => new_proof(ctx, keys, workspace, id, input.mode),
    };
    if let (Proof::Form(settings), Some(change)) = (&mut proof, input.form) {
        *settings = settings.apply(change)?;
    }
    let webhook = Webhook {
        id,
        automation,
        workspace,
        proof,
        is_enabled: existing.as_ref().is_none_or(|webhook| webhook.is_enabled),
        per_minute,
        created_at: existing.as_ref().map_or(ctx.now, |webhook| webhook.created_at),
        updated_at: ctx.now,
    };
    let actions = match &existing {
        None => vec!["webhook.create"],
        Some(_) if !same_mode => vec!["webhook.mode"],
        Some(before) => audit_actions(before, &webhook),
    };
    save_with_audit(tx, ctx, right, &webhook, actions).await?;
    Ok(WebhookWithSecret { webhook, secret })
}

#[cfg(test)]
mod tests;
