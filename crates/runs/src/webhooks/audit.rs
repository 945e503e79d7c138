//! Audit entries of webhooks.

use kernel::{
    AuditEntry, Context,
    authority::{AppRight, CanEdit},
    id::AppId,
};
use serde_json::json;

use super::Webhook;
use crate::{RunsError, RunsTx};

impl Webhook {
    /// Returns the audit entry of a test of the webhook, which starts this app.
    #[must_use]
    pub fn test_audit(&self, ctx: &Context, app: AppId) -> AuditEntry {
        let detail = json!({ "mode": self.proof.mode(), "hint": self.proof.hint() });
        ctx.audit_entry("webhook.test").workspace(self.workspace).target(self.id).app(app).detail(detail)
    }
}

/// Returns an audit action for each difference of the settings.
pub(super) fn audit_actions(before: &Webhook, after: &Webhook) -> Vec<&'static str> {
    let switched = if after.is_enabled { "webhook.enable" } else { "webhook.disable" };
    let differences = [
        (before.is_enabled != after.is_enabled, switched),
        (before.per_minute != after.per_minute, "webhook.limit"),
        (before.proof.form() != after.proof.form(), "webhook.form"),
    ];
    differences.into_iter().filter(|(differs, _)| *differs).map(|(_, action)| action).collect()
}

/// Saves a webhook and audits the actions. Without an action nothing has changed, and nothing is written.
pub(super) async fn save_with_audit(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    webhook: &Webhook,
    actions: Vec<&'static str>,
) -> Result<(), RunsError> {
    if !actions.is_empty() {
        tx.upsert_webhook(webhook).await?;
    }
    for action in actions {
        audit(tx, ctx, right, action, webhook);
    }
    Ok(())
}

/// Audits an action on a webhook with its settings, and without its secret.
pub(super) fn audit(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    action: &'static str,
    webhook: &Webhook,
) {
    let detail = json!({
        "mode": webhook.proof.mode(),
        "hint": webhook.proof.hint(),
        "automation": webhook.automation,
        "perMinute": webhook.per_minute,
        "form": webhook.proof.form(),
    });
    let entry = ctx.audit_entry(action).workspace(webhook.workspace).target(webhook.id);
    tx.audit(entry.app(right.app()).detail(detail));
}
