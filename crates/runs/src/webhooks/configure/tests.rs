use kernel::testing::{at, id};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::*;
use crate::{
    Automation, InvalidInput, Trigger,
    automations::schedule::Schedule,
    testing::{
        FakeTx, assert_audited, assert_invalid, assert_store_failed, assert_untouched, automation, can_edit,
        editor_context, peppers, sealed, vault, webhook, workspace,
    },
    webhooks::{FormSettings, TokenDigest},
};

fn request(mode: ProofMode) -> ConfigureWebhook {
    ConfigureWebhook { mode, per_minute: None, form: None, confirm: false }
}

fn confirmed(mode: ProofMode) -> ConfigureWebhook {
    ConfigureWebhook { confirm: true, ..request(mode) }
}

fn with_trigger(trigger: Trigger) -> FakeTx {
    FakeTx::with_automation(&automation(10, trigger))
}

fn with_webhook(webhook: Webhook) -> FakeTx {
    FakeTx { webhooks: vec![webhook], ..with_trigger(Trigger::Webhook) }
}

fn signed() -> Webhook {
    webhook(40, id(10), Proof::Signed(sealed("qws_old")))
}

async fn configure(tx: &mut FakeTx, input: ConfigureWebhook) -> Result<WebhookWithSecret, RunsError> {
    let (ctx, vault, peppers) = (editor_context(), vault(), peppers());
    let keys = CredentialKeys { vault: &vault, peppers: &peppers };
    configure_webhook(tx, &ctx, &can_edit(&ctx), keys, id(10), input).await
}

/// Checks that no audit entry holds the secret.
#[track_caller]
fn assert_secret_not_audited(tx: &FakeTx, secret: &str) {
    assert!(!secret.is_empty());
    for entry in &tx.work.audit {
        let detail = entry.detail.as_ref().unwrap().to_string();
        assert!(!detail.contains(secret), "{detail}");
    }
}

#[tokio::test]
async fn a_new_webhook_shows_its_signing_secret_once() {
    for mode in [ProofMode::Signed, ProofMode::CodeHost] {
        let mut tx = with_trigger(Trigger::Webhook);
        let WebhookWithSecret { webhook, secret } = configure(&mut tx, request(mode)).await.unwrap();
        let secret = secret.unwrap();
        let (Proof::Signed(stored) | Proof::CodeHost(stored)) = &webhook.proof else { panic!("{webhook:?}") };
        let owner = Webhook::secret_owner(workspace(), webhook.id);
        let opened = vault().open(&owner.each_ref().map(String::as_str), &stored.sealed).unwrap();
        assert_eq!(opened.expose_secret(), secret.expose_secret());
        assert!(
            !stored.hint.contains(secret.expose_secret()) && !stored.sealed.contains(secret.expose_secret())
        );

        let expected = Webhook {
            id: webhook.id,
            automation: id(10),
            workspace: workspace(),
            proof: webhook.proof.clone(),
            is_enabled: true,
            per_minute: 60,
            created_at: at(60_000),
            updated_at: at(60_000),
        };
        assert_eq!((webhook.proof.mode(), &webhook), (mode, &expected));
        assert_eq!(tx.webhooks, std::slice::from_ref(&webhook));
        let detail = json!({ "mode": mode, "hint": stored.hint, "automation": webhook.automation, "perMinute": 60, "form": null });
        assert_audited(&tx.work, "webhook.create", webhook.id, Some(&detail));
        assert_secret_not_audited(&tx, secret.expose_secret());
    }
}

#[tokio::test]
async fn of_a_new_token_only_the_digest_is_stored() {
    for mode in [ProofMode::Token, ProofMode::Messenger] {
        let mut tx = with_trigger(Trigger::Webhook);
        let WebhookWithSecret { webhook, secret } = configure(&mut tx, request(mode)).await.unwrap();
        let secret = secret.unwrap();
        let (Proof::Token(TokenDigest { digest, .. }) | Proof::Messenger(TokenDigest { digest, .. })) =
            &webhook.proof
        else {
            panic!("{webhook:?}")
        };
        assert!(peppers().verify(secret.expose_secret(), digest));
        assert_eq!((webhook.proof.mode(), webhook.per_minute), (mode, 60));
        assert_eq!(tx.work.audited_actions(), ["webhook.create"]);
        assert_secret_not_audited(&tx, secret.expose_secret());
    }
}

#[tokio::test]
async fn a_form_has_settings_in_place_of_a_secret() {
    for trigger in [Trigger::Webhook, Trigger::Form] {
        let mut tx = with_trigger(trigger);
        let form = ChangeForm { hidden_field: Some("website".to_owned()), ..ChangeForm::default() };
        let input = ConfigureWebhook { form: Some(form), ..request(ProofMode::Form) };
        let WebhookWithSecret { webhook, secret } = configure(&mut tx, input).await.unwrap();
        assert!(secret.is_none());
        let settings = FormSettings { hidden_field: "website".to_owned(), ..FormSettings::default() };
        assert_eq!((webhook.proof.form(), webhook.per_minute), (Some(&settings), 20));
        let detail = json!({ "mode": "form", "hint": null, "automation": webhook.automation, "perMinute": 20, "form": settings });
        assert_audited(&tx.work, "webhook.create", webhook.id, Some(&detail));
    }
}

#[tokio::test]
async fn no_proof_at_all_has_to_be_confirmed() {
    let mut tx = with_trigger(Trigger::Webhook);
    let refused = configure(&mut tx, request(ProofMode::None)).await;
    assert!(
        matches!(refused, Err(RunsError::ConfirmationNeeded(WebhookBreakage::ProofRemoved))),
        "{refused:?}"
    );
    assert!(tx.webhooks.is_empty());
    assert_untouched(&tx);

    let made = configure(&mut tx, confirmed(ProofMode::None)).await.unwrap();
    assert!(made.secret.is_none());
    assert_eq!(made.webhook.proof, Proof::None);
    // It is the mode already: nothing is given up.
    configure(&mut tx, request(ProofMode::None)).await.unwrap();
}

#[tokio::test]
async fn another_mode_has_to_be_confirmed_and_replaces_the_secret() {
    let mut tx = with_webhook(signed());
    let refused = configure(&mut tx, request(ProofMode::Token)).await;
    assert!(
        matches!(refused, Err(RunsError::ConfirmationNeeded(WebhookBreakage::SecretReplaced))),
        "{refused:?}"
    );
    assert_eq!(tx.webhooks, [signed()]);
    assert_untouched(&tx);

    let WebhookWithSecret { webhook, secret } =
        configure(&mut tx, confirmed(ProofMode::Token)).await.unwrap();
    assert!(secret.is_some());
    assert_eq!((webhook.id, webhook.proof.mode()), (signed().id, ProofMode::Token));
    assert_eq!((webhook.created_at, webhook.updated_at), (at(0), at(60_000)));
    assert_eq!(tx.webhooks, std::slice::from_ref(&webhook));
    let detail = json!({ "mode": "token", "hint": webhook.proof.hint(), "automation": webhook.automation, "perMinute": 60, "form": null });
    assert_audited(&tx.work, "webhook.mode", webhook.id, Some(&detail));
}

#[tokio::test]
async fn a_disabled_webhook_stays_disabled_in_another_mode() {
    let mut tx = with_webhook(Webhook { is_enabled: false, ..signed() });
    assert!(!configure(&mut tx, confirmed(ProofMode::Token)).await.unwrap().webhook.is_enabled);
}

#[tokio::test]
async fn the_same_mode_keeps_the_secret_and_may_be_repeated() {
    let mut tx = with_webhook(signed());
    let repeated = configure(&mut tx, request(ProofMode::Signed)).await.unwrap();
    assert!(repeated.secret.is_none());
    assert_eq!(repeated.webhook.proof, signed().proof);
    assert_eq!(tx.webhooks, [signed()]);
    assert_untouched(&tx);

    let limited = ConfigureWebhook { per_minute: Some(5), ..request(ProofMode::Signed) };
    let changed = configure(&mut tx, limited).await.unwrap();
    assert!(changed.secret.is_none());
    assert_eq!(tx.webhooks, [Webhook { per_minute: 5, updated_at: at(60_000), ..signed() }]);
    let detail = json!({ "mode": "signed", "hint": "qws_…hint", "automation": changed.webhook.automation, "perMinute": 5, "form": null });
    assert_audited(&tx.work, "webhook.limit", changed.webhook.id, Some(&detail));
}

#[tokio::test]
async fn a_limit_is_kept_unless_a_form_begins_or_ends() {
    let limited = |proof| Webhook { per_minute: 7, ..webhook(40, id(10), proof) };
    for (before, mode, per_minute) in [
        (signed().proof, ProofMode::Token, 7),
        (signed().proof, ProofMode::Form, 20),
        (Proof::Form(FormSettings::default()), ProofMode::Token, 60),
        (Proof::Form(FormSettings::default()), ProofMode::Form, 7),
    ] {
        let mut tx = with_webhook(limited(before));
        let configured = configure(&mut tx, confirmed(mode)).await.unwrap();
        assert_eq!(configured.webhook.per_minute, per_minute, "{mode:?}");
    }
}

#[tokio::test]
async fn a_field_out_of_bounds_changes_nothing() {
    let form = |hidden: &str| ChangeForm { hidden_field: Some(hidden.to_owned()), ..ChangeForm::default() };
    for (expected, input) in [
        (
            InvalidInput::CallsPerMinute,
            ConfigureWebhook { per_minute: Some(0), ..request(ProofMode::Signed) },
        ),
        (
            InvalidInput::CallsPerMinute,
            ConfigureWebhook { per_minute: Some(601), ..request(ProofMode::Signed) },
        ),
        (
            InvalidInput::FormInOtherMode,
            ConfigureWebhook { form: Some(form("website")), ..request(ProofMode::Signed) },
        ),
        (InvalidInput::HiddenField, ConfigureWebhook { form: Some(form("")), ..request(ProofMode::Form) }),
    ] {
        let mut tx = with_trigger(Trigger::Webhook);
        assert_invalid(&configure(&mut tx, input).await, &expected);
        assert!(tx.webhooks.is_empty());
        assert_untouched(&tx);
    }
    let most = ConfigureWebhook { per_minute: Some(600), ..request(ProofMode::Signed) };
    configure(&mut with_trigger(Trigger::Webhook), most).await.unwrap();
}

#[tokio::test]
async fn an_automation_of_a_form_takes_no_other_mode() {
    let mut tx = with_trigger(Trigger::Form);
    assert_invalid(&configure(&mut tx, confirmed(ProofMode::Signed)).await, &InvalidInput::ProofMode);
    assert_untouched(&tx);
}

#[tokio::test]
async fn an_automation_of_another_trigger_has_no_webhook() {
    let hourly = Trigger::Schedule(Schedule::parse("0 * * * *", None).unwrap());
    for trigger in [hourly, Trigger::Manual, Trigger::Event("run_failed".to_owned())] {
        let mut tx = with_trigger(trigger);
        let refused = configure(&mut tx, request(ProofMode::Signed)).await;
        assert!(matches!(refused, Err(RunsError::NotAWebhook)), "{refused:?}");
        assert_untouched(&tx);
    }
}

#[tokio::test]
async fn an_automation_of_another_app_or_workspace_is_not_found() {
    let own = automation(10, Trigger::Webhook);
    for foreign in [Automation { app: id(9), ..own.clone() }, Automation { workspace: id(9), ..own }] {
        let mut tx = FakeTx::with_automation(&foreign);
        let refused = configure(&mut tx, request(ProofMode::Signed)).await;
        assert!(matches!(refused, Err(RunsError::AutomationNotFound)), "{refused:?}");
        assert_untouched(&tx);
    }
}

#[tokio::test]
async fn a_failure_of_the_store_is_returned() {
    assert_store_failed(&configure(&mut FakeTx::unavailable(), request(ProofMode::Signed)).await);
}
