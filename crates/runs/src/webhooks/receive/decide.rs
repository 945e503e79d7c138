//! Deciding what a call leads to.

use std::sync::Arc;

use kernel::Context;

use super::{
    WebhookCall, WebhookReceiver,
    dedup::{dedup_keys, signature_key},
};
use crate::{
    AutomationStatus,
    webhooks::{AcceptCall, WebhookRefusal, WebhookSnapshot, body, form, proof},
};

/// What a call is to lead to, as far as the webhook's state tells.
pub(super) enum CallDecision {
    /// A run, unless an earlier call is the same.
    Start(AcceptCall),
    /// The answer to an earlier call that is the same; where there is none, this refusal.
    Refuse(AcceptCall, WebhookRefusal),
    /// Nothing: a program filled a form's hidden field, and is answered as usual.
    HoneypotHit,
}

impl WebhookReceiver<'_> {
    /// What the call is to lead to. What keeps the webhook from starting anything is told after the call's keys were
    /// read: a call that was accepted before is no less a repeat of it.
    pub(super) fn decide(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
        media_type: body::MediaType,
        state: &Arc<WebhookSnapshot>,
        counted: &mut bool,
    ) -> Result<CallDecision, WebhookRefusal> {
        let webhook = &state.webhook;
        let form = webhook.proof.form();
        if form.is_some() && call.body.len() > form::MAX_BODY {
            return Err(WebhookRefusal::TooLarge { limit_kib: form::MAX_BODY >> 10 });
        }
        let verified = self.verify_proof(state, call, ctx.now)?;
        // First, since every refusal below leaves a row. A second decision about the same call takes nothing more.
        if !std::mem::replace(counted, true) {
            if form.is_some() && !call.is_sample {
                self.rate_limiter
                    .check_submission(webhook.id, ctx.client_ip, form::PER_MINUTE_PER_ADDRESS)
                    .map_err(WebhookRefusal::RateLimited)?;
            }
            self.rate_limiter
                .check_call(webhook.id, webhook.per_minute)
                .map_err(WebhookRefusal::RateLimited)?;
        }
        if let Some(form) = form {
            form.check_origin(call.headers)?;
        }
        let read = || -> Result<_, WebhookRefusal> {
            let input = body::parse(media_type, call.body)?;
            let is_honeypot_hit =
                form.map(|form| form.is_honeypot_hit(&input)).transpose()?.unwrap_or_default();
            let key = proof::idempotency_key(call.headers)?;
            let keys = dedup_keys(key, &verified, webhook, &input, ctx.now);
            Ok((input, is_honeypot_hit && !call.is_sample, keys))
        };
        let start_refusal = find_start_refusal(state);
        let (input, is_honeypot_hit, keys) = match (read(), &start_refusal) {
            (Ok(read), _) => read,
            (Err(refusal), None) => return Err(refusal),
            // What cannot be read repeats nothing.
            (Err(refusal), Some(_)) => return Err(start_refusal.unwrap_or(refusal)),
        };
        if is_honeypot_hit {
            return start_refusal.map_or(Ok(CallDecision::HoneypotHit), Err);
        }
        let acceptance = AcceptCall {
            hook: webhook.id,
            revisions: state.revisions,
            workspace: webhook.workspace,
            automation: webhook.automation,
            app: state.app,
            trigger: state.trigger,
            run: ctx.new_id(),
            delivery: ctx.new_id(),
            keys,
            // Two tests in one second are two tests.
            signature: verified
                .signature
                .filter(|_| !call.is_sample)
                .map(|signed| signature_key(&signed, ctx.now)),
            input,
            bytes: u32::try_from(call.body.len()).unwrap_or(u32::MAX),
            is_sample: call.is_sample,
            at: ctx.now,
            max_concurrency: state.max_concurrency,
            runs_per_month: state.runs_per_month,
            audit: call.is_sample.then(|| webhook.test_audit(ctx)),
            may_start: start_refusal.is_none(),
        };
        Ok(match start_refusal {
            None => CallDecision::Start(acceptance),
            Some(obstacle) => CallDecision::Refuse(acceptance, obstacle),
        })
    }
}

/// What keeps a webhook from starting anything.
fn find_start_refusal(state: &WebhookSnapshot) -> Option<WebhookRefusal> {
    if !state.webhook.is_enabled {
        Some(WebhookRefusal::Disabled)
    } else if state.automation_status != AutomationStatus::Active {
        Some(WebhookRefusal::AutomationPaused)
    } else if !state.is_app_runnable {
        Some(WebhookRefusal::NotRunnable)
    } else if !state.declares_trigger {
        Some(WebhookRefusal::TriggerNotDeclared)
    } else {
        None
    }
}
