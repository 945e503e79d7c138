//! Setting a webhook up, or changing its mode.

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
use crate::{RunsError, RunsTx, TriggerKind};

/// What a webhook is to be.
#[derive(Debug, Clone)]
pub struct ConfigureWebhook {
    /// How a caller proves itself.
    pub mode: ProofMode,
    /// How many calls a minute it takes; when not said as before, or what is usual for the mode.
    pub per_minute: Option<u16>,
    /// What a public form is to ask; only with the mode `form`.
    pub form: Option<ChangeForm>,
    /// Whether a dangerous change is meant.
    pub confirm: bool,
}

/// Sets the webhook of an automation up, or changes its mode, which replaces the secret.
///
/// # Errors
/// When a field is out of bounds, a confirmation is missing, the automation is not one of webhooks, or what the store says.
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
        return Err(RunsError::invalid("mode", "must be form: a public form starts this automation"));
    }
    let existing = tx.webhook_for_update(workspace, automation).await?;
    let same_mode = existing.as_ref().is_some_and(|webhook| webhook.proof.mode() == input.mode);
    if !input.confirm {
        if input.mode == ProofMode::None && !same_mode {
            return Err(RunsError::ConfirmationNeeded(
                "Without proof, whoever knows the address can start this automation.",
            ));
        }
        if existing.is_some() && !same_mode {
            return Err(RunsError::ConfirmationNeeded(
                "Changing the mode replaces or removes the secret; current senders are refused.",
            ));
        }
    }
    if input.form.is_some() && input.mode != ProofMode::Form {
        return Err(form_mode_required());
    }
    // What is usual for a form is not for the other modes.
    let leaves_form =
        |webhook: &&Webhook| same_mode || webhook.proof.form().is_none() && input.mode != ProofMode::Form;
    let per_minute = input
        .per_minute
        .or(existing.as_ref().filter(leaves_form).map(|webhook| webhook.per_minute))
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
    save_with_audit(tx, ctx, &webhook, actions).await?;
    Ok(WebhookWithSecret { webhook, secret })
}

#[cfg(test)]
mod tests;
