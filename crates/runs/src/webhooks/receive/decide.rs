//! Deciding about a call by the state of its webhook.

use std::sync::Arc;

use kernel::Context;

use super::{
    WebhookCall, WebhookReceiver,
    dedup::{dedup_keys, signature_key},
};
use crate::{
    AutomationStatus,
    webhooks::{AcceptCall, ProofMode, WebhookRefusal, WebhookSnapshot, body, form, proof},
};

/// Decision about a call by the state of its webhook.
pub(super) enum CallDecision {
    /// Start a run, unless an earlier call is the same.
    Start(AcceptCall),
    /// Repeat the response to an earlier call that is the same; refuse if there is none.
    Refuse(AcceptCall, WebhookRefusal),
    /// Start nothing, but respond as usual: a program filled the form's hidden field.
    HoneypotHit,
}

impl WebhookReceiver<'_> {
    /// Decides about a call. If the webhook cannot start runs now, the call's keys are read nevertheless, because a
    /// duplicate of an accepted call still gets that call's response.
    ///
    /// `counted` is true once the call was counted against the rate limit.
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
        // Counted first, because every refusal below is recorded. A second decision about the call counts nothing more.
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
            let is_from_code_host = webhook.proof.mode() == ProofMode::CodeHost;
            let input = body::parse(media_type, call.body, is_from_code_host)?;
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
            // A call that cannot be read is not a duplicate of anything.
            (Err(refusal), Some(_)) => return Err(start_refusal.unwrap_or(refusal)),
        };
        if is_honeypot_hit {
            return start_refusal.map_or(Ok(CallDecision::HoneypotHit), Err);
        }
        let accept_call = AcceptCall {
            hook: webhook.id,
            revisions: state.revisions,
            workspace: webhook.workspace,
            automation: webhook.automation,
            app: state.app,
            trigger: state.trigger,
            run: ctx.new_id(),
            delivery: ctx.new_id(),
            keys,
            // Two tests in the same second have the same signature, and are not replays.
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
            audit: call.is_sample.then(|| webhook.test_audit(ctx, state.app)),
            may_start: start_refusal.is_none(),
        };
        Ok(match start_refusal {
            None => CallDecision::Start(accept_call),
            Some(refusal) => CallDecision::Refuse(accept_call, refusal),
        })
    }
}

/// Returns the refusal of calls while the webhook cannot start runs.
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
