//! Replacing the secret of a webhook.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::{
    CredentialKeys, WebhookWithSecret, audit::audit, checks::require_webhook_trigger, credentials::new_proof,
};
use crate::{RunsError, RunsTx};

/// Issues a new secret at once; the old one stops at that moment.
///
/// # Errors
/// When there is no webhook or its mode has no secret, or what the store says.
pub async fn rotate_webhook(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    keys: CredentialKeys<'_>,
    automation: AutomationId,
) -> Result<WebhookWithSecret, RunsError> {
    let workspace = right.member().workspace();
    require_webhook_trigger(tx, right, automation).await?;
    let found = tx.webhook_for_update(workspace, automation).await?;
    let mut webhook = found.ok_or(RunsError::WebhookNotFound)?;
    let (proof, secret) = new_proof(ctx, keys, workspace, webhook.id, webhook.proof.mode());
    if secret.is_none() {
        return Err(RunsError::NoSecret);
    }
    webhook.proof = proof;
    webhook.updated_at = ctx.now;
    tx.upsert_webhook(&webhook).await?;
    audit(tx, ctx, "webhook.rotate", &webhook);
    Ok(WebhookWithSecret { webhook, secret })
}
