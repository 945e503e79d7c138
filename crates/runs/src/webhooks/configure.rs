//! Setting a webhook up, changing and rotating it.

use kernel::{
    AuditEntry, Context,
    authority::{AppRight, CanEdit},
    id::{AutomationId, HookId, WorkspaceId},
    token::{self, Peppers, TokenHint, TokenKind},
    vault::Vault,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{ChangeForm, FormSettings, Proof, ProofMode, SealedSecret, TokenDigest, Webhook};
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

/// A webhook and, where a new one was made, its secret, which is shown only now.
#[derive(Debug)]
pub struct WebhookWithSecret {
    /// The webhook.
    pub webhook: Webhook,
    /// The new secret.
    pub secret: Option<SecretString>,
}

/// What makes and seals secrets.
#[derive(Debug, Clone, Copy)]
pub struct CredentialKeys<'a> {
    /// Seals what must be read again.
    pub vault: &'a Vault,
    /// Digests what must not.
    pub peppers: &'a Peppers,
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

/// What the audit log says of a change of settings.
fn audit_actions(before: &Webhook, after: &Webhook) -> Vec<&'static str> {
    let switched = if after.is_enabled { "webhook.enable" } else { "webhook.disable" };
    let differences = [
        (before.is_enabled != after.is_enabled, switched),
        (before.per_minute != after.per_minute, "webhook.limit"),
        (before.proof.form() != after.proof.form(), "webhook.form"),
    ];
    differences.into_iter().filter(|(differs, _)| *differs).map(|(_, action)| action).collect()
}

/// Writes a webhook about which there is something to tell.
async fn save_with_audit(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    webhook: &Webhook,
    actions: Vec<&'static str>,
) -> Result<(), RunsError> {
    if !actions.is_empty() {
        tx.upsert_webhook(webhook).await?;
    }
    for action in actions {
        audit(tx, ctx, action, webhook);
    }
    Ok(())
}

fn form_mode_required() -> RunsError {
    RunsError::invalid("form", "belongs to the mode form")
}

async fn require_webhook_trigger(
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

fn check_per_minute(per_minute: u16) -> Result<(), RunsError> {
    if (1..=600).contains(&per_minute) {
        Ok(())
    } else {
        Err(RunsError::invalid("perMinute", "must be from 1 to 600"))
    }
}

fn new_proof(
    ctx: &Context,
    keys: CredentialKeys<'_>,
    workspace: WorkspaceId,
    hook: HookId,
    mode: ProofMode,
) -> (Proof, Option<SecretString>) {
    let seal = |secret: &SecretString| {
        let owner = Webhook::secret_owner(workspace, hook);
        let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
        SealedSecret {
            sealed: keys.vault.seal(ctx.random(), &owner, secret),
            hint: TokenHint::of(TokenKind::HookSecret, secret).to_string(),
        }
    };
    let mint_token = || {
        let token = token::mint(TokenKind::HookToken, ctx.random());
        let digest = keys.peppers.digest(token.expose_secret());
        let hint = TokenHint::of(TokenKind::HookToken, &token).to_string();
        (TokenDigest { digest, hint }, token)
    };
    match mode {
        ProofMode::Signed => {
            let secret = token::mint(TokenKind::HookSecret, ctx.random());
            (Proof::Signed(seal(&secret)), Some(secret))
        }
        ProofMode::CodeHost => {
            let secret = token::mint(TokenKind::HookSecret, ctx.random());
            (Proof::CodeHost(seal(&secret)), Some(secret))
        }
        ProofMode::Token => {
            let (digest, token) = mint_token();
            (Proof::Token(digest), Some(token))
        }
        ProofMode::Messenger => {
            let (digest, token) = mint_token();
            (Proof::Messenger(digest), Some(token))
        }
        ProofMode::Form => (Proof::Form(FormSettings::default()), None),
        ProofMode::None => (Proof::None, None),
    }
}

impl Webhook {
    /// The row of the audit log of a test of it.
    #[must_use]
    pub fn test_audit(&self, ctx: &Context) -> AuditEntry {
        let detail = json!({ "mode": self.proof.mode(), "hint": self.proof.hint() });
        ctx.audit_entry("webhook.test").workspace(self.workspace).target(self.id).detail(detail)
    }
}

fn audit(tx: &mut dyn RunsTx, ctx: &Context, action: &'static str, webhook: &Webhook) {
    let detail = json!({
        "mode": webhook.proof.mode(),
        "hint": webhook.proof.hint(),
        "perMinute": webhook.per_minute,
        "form": webhook.proof.form(),
    });
    tx.audit(ctx.audit_entry(action).workspace(webhook.workspace).target(webhook.id).detail(detail));
}
