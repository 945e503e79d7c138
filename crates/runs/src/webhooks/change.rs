//! Changing the settings of a webhook without touching its secret.

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

/// Settings to change. `None` keeps the current value.
#[derive(Debug, Clone, Default)]
pub struct ChangeWebhook {
    /// True if it takes calls.
    pub enabled: Option<bool>,
    /// Most calls in a minute, 1 to 600.
    pub per_minute: Option<u16>,
    /// Changes to the settings of a public form.
    pub form: Option<ChangeForm>,
}

/// Enables or disables a webhook, or changes its limit or form. Without a difference nothing is written.
///
/// # Errors
/// * [`RunsError::AutomationNotFound`] when the app has no such automation
/// * [`RunsError::NotAWebhook`] when the trigger is neither a webhook nor a form
/// * [`RunsError::WebhookNotFound`] when the automation has no webhook
/// * [`RunsError::InvalidInput`] when a field is out of bounds or does not belong to the mode
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
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
    save_with_audit(tx, ctx, right, &webhook, actions).await?;
    Ok(webhook)
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};
    use serde_json::json;

    use super::*;
    use crate::{
        Automation, InvalidInput, Trigger,
        testing::{
            FakeTx, assert_audited, assert_invalid, assert_store_failed, assert_untouched, automation,
            can_edit, editor_context, sealed, webhook,
        },
        webhooks::FormSettings,
    };

    fn signed() -> Webhook {
        webhook(40, id(10), Proof::Signed(sealed("qws_old")))
    }

    fn with_webhook(webhook: Webhook) -> FakeTx {
        FakeTx { webhooks: vec![webhook], ..FakeTx::with_automation(&automation(10, Trigger::Webhook)) }
    }

    fn hidden(field: &str) -> ChangeWebhook {
        let form = ChangeForm { hidden_field: Some(field.to_owned()), ..ChangeForm::default() };
        ChangeWebhook { form: Some(form), ..ChangeWebhook::default() }
    }

    async fn change(tx: &mut FakeTx, input: ChangeWebhook) -> Result<Webhook, RunsError> {
        let ctx = editor_context();
        change_webhook(tx, &ctx, &can_edit(&ctx), id(10), input).await
    }

    #[tokio::test]
    async fn a_webhook_can_be_disabled_and_enabled() {
        for (enabled, action) in [(false, "webhook.disable"), (true, "webhook.enable")] {
            let mut tx = with_webhook(Webhook { is_enabled: !enabled, ..signed() });
            let input = ChangeWebhook { enabled: Some(enabled), ..ChangeWebhook::default() };
            let changed = change(&mut tx, input).await.unwrap();
            assert_eq!(changed, Webhook { is_enabled: enabled, updated_at: at(60_000), ..signed() });
            assert_eq!(tx.webhooks, [changed]);
            let detail = json!({ "mode": "signed", "hint": "qws_…hint", "automation": tx.webhooks[0].automation, "perMinute": 60, "form": null });
            assert_audited(&tx.work, action, tx.webhooks[0].id, Some(&detail));
        }
    }

    #[tokio::test]
    async fn each_difference_is_audited() {
        let before = webhook(40, id(10), Proof::Form(FormSettings::default()));
        let mut tx = with_webhook(before);
        let input = ChangeWebhook { enabled: Some(false), per_minute: Some(600), ..hidden("website") };
        let changed = change(&mut tx, input).await.unwrap();
        assert_eq!(tx.work.audited_actions(), ["webhook.disable", "webhook.limit", "webhook.form"]);
        assert_eq!(changed.proof.form().unwrap().hidden_field, "website");
        assert_eq!((changed.is_enabled, changed.per_minute), (false, 600));
    }

    #[tokio::test]
    async fn what_is_so_already_is_not_written() {
        let input = || ChangeWebhook { enabled: Some(true), per_minute: Some(60), form: None };
        let mut tx = with_webhook(signed());
        for input in [input(), ChangeWebhook::default()] {
            assert_eq!(change(&mut tx, input).await.unwrap(), signed());
        }
        assert_eq!(tx.webhooks, [signed()]);
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn a_field_out_of_bounds_changes_nothing() {
        let form = webhook(40, id(10), Proof::Form(FormSettings::default()));
        for (before, expected, input) in [
            (
                signed(),
                InvalidInput::CallsPerMinute,
                ChangeWebhook { per_minute: Some(0), ..ChangeWebhook::default() },
            ),
            (
                signed(),
                InvalidInput::CallsPerMinute,
                ChangeWebhook { per_minute: Some(601), ..ChangeWebhook::default() },
            ),
            (signed(), InvalidInput::FormInOtherMode, hidden("website")),
            (form, InvalidInput::HiddenField, hidden("")),
        ] {
            let mut tx = with_webhook(before.clone());
            assert_invalid(&change(&mut tx, input).await, &expected);
            assert_eq!(tx.webhooks, [before]);
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn what_is_not_there_cannot_be_changed() {
        let own = automation(10, Trigger::Webhook);
        let mut without = FakeTx::with_automation(&own);
        let refused = change(&mut without, ChangeWebhook::default()).await;
        assert!(matches!(refused, Err(RunsError::WebhookNotFound)), "{refused:?}");

        let mut manual = FakeTx::with_automation(&automation(10, Trigger::Manual));
        let refused = change(&mut manual, ChangeWebhook::default()).await;
        assert!(matches!(refused, Err(RunsError::NotAWebhook)), "{refused:?}");

        let mut foreign = with_webhook(signed());
        foreign.automations = vec![Automation { app: id(9), ..own }];
        let input = ChangeWebhook { enabled: Some(false), ..ChangeWebhook::default() };
        let refused = change(&mut foreign, input).await;
        assert!(matches!(refused, Err(RunsError::AutomationNotFound)), "{refused:?}");
        assert_eq!(foreign.webhooks, [signed()]);
        for tx in [without, manual, foreign] {
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&change(&mut FakeTx::unavailable(), ChangeWebhook::default()).await);
    }
}
