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

/// Replaces the secret of a webhook. The old secret is invalid as soon as the transaction commits.
///
/// # Errors
/// * [`RunsError::AutomationNotFound`] when the app has no such automation
/// * [`RunsError::NotAWebhook`] when the trigger is neither a webhook nor a form
/// * [`RunsError::WebhookNotFound`] when the automation has no webhook
/// * [`RunsError::NoSecret`] when the mode has no secret
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
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
    audit(tx, ctx, right, "webhook.rotate", &webhook);
    Ok(WebhookWithSecret { webhook, secret })
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};
    use secrecy::ExposeSecret as _;
    use serde_json::json;

    use super::*;
    use crate::{
        Automation, Trigger, Webhook,
        testing::{
            FakeTx, assert_audited, assert_store_failed, assert_untouched, automation, can_edit,
            editor_context, peppers, sealed, vault, webhook, workspace,
        },
        webhooks::{FormSettings, Proof, TokenDigest},
    };

    fn with_proof(proof: Proof) -> FakeTx {
        FakeTx {
            webhooks: vec![webhook(40, id(10), proof)],
            ..FakeTx::with_automation(&automation(10, Trigger::Webhook))
        }
    }

    fn old_token() -> TokenDigest {
        TokenDigest { digest: peppers().digest("qwt_old"), hint: "qwt_…_old".to_owned() }
    }

    async fn rotate(tx: &mut FakeTx) -> Result<WebhookWithSecret, RunsError> {
        let (ctx, vault, peppers) = (editor_context(), vault(), peppers());
        let keys = CredentialKeys { vault: &vault, peppers: &peppers };
        rotate_webhook(tx, &ctx, &can_edit(&ctx), keys, id(10)).await
    }

    #[tokio::test]
    async fn a_new_signing_secret_replaces_the_old_one() {
        for old in [Proof::Signed(sealed("qws_old")), Proof::CodeHost(sealed("qws_old"))] {
            let mut tx = with_proof(old.clone());
            let WebhookWithSecret { webhook: rotated, secret } = rotate(&mut tx).await.unwrap();
            let secret = secret.unwrap();
            assert_eq!(rotated.proof.mode(), old.mode());
            let (Proof::Signed(new) | Proof::CodeHost(new)) = &rotated.proof else { panic!("{rotated:?}") };
            let owner = Webhook::secret_owner(workspace(), rotated.id);
            let opened = vault().open(&owner.each_ref().map(String::as_str), &new.sealed).unwrap();
            assert_eq!(opened.expose_secret(), secret.expose_secret());
            assert_ne!(secret.expose_secret(), "qws_old");

            let expected = Webhook { updated_at: at(60_000), ..webhook(40, id(10), rotated.proof.clone()) };
            assert_eq!(rotated, expected);
            assert_eq!(tx.webhooks, [expected]);
            let detail = json!({ "mode": old.mode(), "hint": new.hint, "automation": rotated.automation, "perMinute": 60, "form": null });
            assert!(!detail.to_string().contains(secret.expose_secret()));
            assert_audited(&tx.work, "webhook.rotate", rotated.id, Some(&detail));
        }
    }

    #[tokio::test]
    async fn an_old_token_stops_at_once() {
        for old in [Proof::Token(old_token()), Proof::Messenger(old_token())] {
            let mut tx = with_proof(old.clone());
            let WebhookWithSecret { webhook: rotated, secret } = rotate(&mut tx).await.unwrap();
            assert_eq!(rotated.proof.mode(), old.mode());
            let (Proof::Token(new) | Proof::Messenger(new)) = &rotated.proof else { panic!("{rotated:?}") };
            assert!(peppers().verify(secret.unwrap().expose_secret(), &new.digest));
            assert!(!peppers().verify("qwt_old", &new.digest));
            assert_eq!((tx.webhooks, tx.work.audited_actions()), (vec![rotated], vec!["webhook.rotate"]));
        }
    }

    #[tokio::test]
    async fn a_mode_without_a_secret_has_nothing_to_rotate() {
        for proof in [Proof::Form(FormSettings::default()), Proof::None] {
            let mut tx = with_proof(proof.clone());
            let refused = rotate(&mut tx).await;
            assert!(matches!(refused, Err(RunsError::NoSecret)), "{refused:?}");
            assert_eq!(tx.webhooks, [webhook(40, id(10), proof)]);
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn what_is_not_there_cannot_be_rotated() {
        let own = automation(10, Trigger::Webhook);
        let mut without = FakeTx::with_automation(&own);
        let refused = rotate(&mut without).await;
        assert!(matches!(refused, Err(RunsError::WebhookNotFound)), "{refused:?}");

        let mut manual = FakeTx::with_automation(&automation(10, Trigger::Manual));
        let refused = rotate(&mut manual).await;
        assert!(matches!(refused, Err(RunsError::NotAWebhook)), "{refused:?}");

        let mut foreign = with_proof(Proof::Token(old_token()));
        foreign.automations = vec![Automation { app: id(9), ..own }];
        let refused = rotate(&mut foreign).await;
        assert!(matches!(refused, Err(RunsError::AutomationNotFound)), "{refused:?}");
        assert_eq!(foreign.webhooks, [webhook(40, id(10), Proof::Token(old_token()))]);
        for tx in [without, manual, foreign] {
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&rotate(&mut FakeTx::unavailable()).await);
    }
}
